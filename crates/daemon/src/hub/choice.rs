//! Which files of a repository a pack is made from. Nothing else is downloaded, and never a pickle: loading one runs code.

use super::HubError;
use super::listing::ListedFile;
use super::verify::Checksum;

/// Beside the weights, where they exist.
const BESIDE: &[&str] = &[
    "README.md",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "tokenizer.json",
    "sparse_linear.safetensors",
];
/// The weights as most repositories hold them.
const WEIGHTS: &str = "model.safetensors";
/// Present where the weights are cut into several files.
const SHARDS: &str = "model.safetensors.index.json";
/// Without these safetensors are no model.
const NEEDED: &[&str] = &["config.json", "tokenizer.json"];
/// Endings of weights in formats that are not read.
const FOREIGN: &[&str] = &[
    ".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack", ".onnx", ".ot",
];

/// A file to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedFile {
    /// Its path in the repository.
    pub(super) name: String,
    /// Its path below the download.
    pub(super) local: String,
    pub(super) size: u64,
    pub(super) checksum: Checksum,
}

/// Returns what to download, weights last. `file` names the weights where there is a choice.
pub(super) fn choose(files: &[ListedFile], file: Option<&str>) -> Result<Vec<WantedFile>, HubError> {
    let find = |name: &str| files.iter().find(|file| file.name == name);
    let weights = match file {
        Some(name) => named(files, name)?,
        None => find(WEIGHTS).map_or_else(|| only_gguf(files), Ok)?,
    };
    if weights.name == WEIGHTS
        && let Some(missing) = NEEDED.iter().find(|name| find(name).is_none())
    {
        return unusable(format!("it has weights and no {missing}"));
    }
    let beside = BESIDE.iter().filter_map(|name| find(name));
    beside.chain([weights]).map(want).collect()
}

fn want(file: &ListedFile) -> Result<WantedFile, HubError> {
    let Some(size) = file.size else {
        return unusable(format!("the hub does not tell the size of {}", file.name));
    };
    let base = file.name.rsplit('/').next().unwrap_or(&file.name);
    Ok(WantedFile {
        local: if is_gguf(&file.name) { base } else { &file.name }.to_owned(),
        name: file.name.clone(),
        size,
        checksum: file.checksum.clone(),
    })
}

fn named<'a>(files: &'a [ListedFile], name: &str) -> Result<&'a ListedFile, HubError> {
    if name != WEIGHTS && !is_gguf(name) {
        return unusable(format!("{name} is neither {WEIGHTS} nor a .gguf file"));
    }
    if name != WEIGHTS && is_shard(name) {
        return unusable(format!("{name} is one of several parts; choose weights in one file"));
    }
    match files.iter().find(|file| file.name == name) {
        Some(file) => Ok(file),
        None => unusable(format!("it has no file {name:?}; {}", has(&ggufs(files)))),
    }
}

fn only_gguf(files: &[ListedFile]) -> Result<&ListedFile, HubError> {
    let ggufs = ggufs(files);
    match ggufs[..] {
        [only] => Ok(only),
        [] => unusable(without_weights(files)),
        _ => unusable(format!("choose one of its files with --file: {}", has(&ggufs))),
    }
}

fn without_weights(files: &[ListedFile]) -> String {
    if files.iter().any(|file| file.name == SHARDS) {
        return "its weights are cut into several files, which is not supported; look for a smaller model, or one as .gguf"
            .to_owned();
    }
    let foreign = |file: &&ListedFile| FOREIGN.iter().any(|ending| file.name.to_lowercase().ends_with(ending));
    match files.iter().find(foreign) {
        Some(file) => format!(
            "its weights are only in formats that are not loaded, like {}: code can hide in them, or they cannot be run here; \
             another revision may have {WEIGHTS} (name it: @refs/pr/1)",
            file.name
        ),
        None => format!("it has neither {WEIGHTS} nor a .gguf file"),
    }
}

/// Returns the files of a repository that can be chosen.
fn ggufs(files: &[ListedFile]) -> Vec<&ListedFile> {
    let ggufs = files.iter().filter(|file| is_gguf(&file.name));
    ggufs.filter(|file| !is_shard(&file.name)).collect()
}

/// Its name becomes a file's name here, so it is of a charset that is one everywhere.
fn is_gguf(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    base.ends_with(".gguf") && !base.starts_with(['.', '-']) && base.bytes().all(plain)
}

/// `x-00001-of-00003.gguf`
fn is_shard(name: &str) -> bool {
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let stem = name.trim_end_matches(".gguf");
    let parts: Vec<_> = stem.rsplitn(4, '-').collect();
    matches!(parts[..], [total, "of", part, _] if digits(total) && digits(part))
}

fn has(ggufs: &[&ListedFile]) -> String {
    let names: Vec<_> = ggufs.iter().take(20).map(|file| file.name.as_str()).collect();
    match names[..] {
        [] => "it has no .gguf files".to_owned(),
        _ => format!("it has {}", names.join(", ")),
    }
}

fn unusable<T>(why: String) -> Result<T, HubError> {
    Err(HubError::Unusable { why })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &str) -> Vec<ListedFile> {
        let file = |name: &str| ListedFile {
            name: name.to_owned(),
            size: Some(1),
            checksum: Checksum::SizeOnly,
        };
        names.split_whitespace().map(file).collect()
    }

    fn check(names: &str, file: Option<&str>, expected: Result<&str, &str>) {
        let chosen = choose(&files(names), file);
        match (&chosen, expected) {
            (Ok(found), Ok(wanted)) => {
                let found: Vec<_> = found.iter().map(|file| file.local.as_str()).collect();
                assert_eq!(found.join(" "), wanted, "{names}");
            }
            (Err(error), Err(wanted)) => {
                assert_eq!(error.code(), "hub_model_unusable");
                assert!(error.to_string().contains(wanted), "{error}");
            }
            _ => panic!("{chosen:?} for {names}"),
        }
    }

    #[test]
    fn only_what_a_pack_needs_is_chosen_and_weights_come_last() {
        check(
            "model.safetensors .gitattributes 1_Pooling/config.json README.md config.json modules.json onnx/model.onnx \
             pytorch_model.bin sentencepiece.bpe.model tokenizer.json",
            None,
            Ok("README.md config.json modules.json 1_Pooling/config.json tokenizer.json model.safetensors"),
        );
        check(
            "config.json model.safetensors model.safetensors.index.json q.gguf sparse_linear.pt \
             sparse_linear.safetensors tokenizer.json",
            None,
            Ok("config.json tokenizer.json sparse_linear.safetensors model.safetensors"),
        );
        check("q8/m.gguf", None, Ok("m.gguf"));
        check("config.json a.gguf b.gguf", Some("b.gguf"), Ok("config.json b.gguf"));
        check(
            "config.json a.gguf model.safetensors tokenizer.json",
            Some("a.gguf"),
            Ok("config.json tokenizer.json a.gguf"),
        );
    }

    #[test]
    fn what_cannot_become_a_pack_is_refused_with_the_reason() {
        check(
            "a.gguf b.gguf",
            None,
            Err("choose one of its files with --file: it has a.gguf, b.gguf"),
        );
        check(
            "config.json pytorch_model.bin tokenizer.json",
            None,
            Err("pytorch_model.bin"),
        );
        check("config.json a.PT", None, Err("a.PT"));
        check(
            "config.json model-00001-of-00002.safetensors model.safetensors.index.json",
            None,
            Err("several files"),
        );
        check("README.md", None, Err("neither"));
        check("model.safetensors tokenizer.json", None, Err("no config.json"));
        check("config.json model.safetensors", None, Err("no tokenizer.json"));
        check("m-00001-of-00002.gguf m-00002-of-00002.gguf", None, Err("neither"));
        check(
            "m-00001-of-00002.gguf",
            Some("m-00001-of-00002.gguf"),
            Err("several parts"),
        );
        check("a.gguf", Some("c.gguf"), Err("it has a.gguf"));
        check("a.bin", Some("a.bin"), Err("neither"));
    }

    #[test]
    fn a_name_that_is_no_file_name_everywhere_is_no_choice() {
        check("-rf.gguf", None, Err("neither"));
        check(".gguf", None, Err("neither"));
        check("模型.gguf", None, Err("neither"));
    }
}
