//! Names: of files within an archive or folder, of files that must be pickles, of packs.

use super::PackError;

/// Bytes of a path within a bundle at most.
const LONGEST_PATH: usize = 512;
/// Endings of files that hold a pickle, or hold one often enough to be taken for one.
const PICKLE_ENDINGS: &[&str] = &["bin", "pt", "pth", "pkl", "pickle", "ckpt", "joblib"];

/// Checks a path within an archive or folder: relative, forward slashes, no step up, nothing that a terminal obeys.
pub(crate) fn check_path(path: &str) -> Result<(), PackError> {
    let why = if path.is_empty() {
        "it is empty"
    } else if path.len() > LONGEST_PATH {
        "it is too long"
    } else if path.chars().any(|c| c.is_control() || is_direction(c)) {
        "it has control characters"
    } else if path.contains('\\') {
        "it has a backslash"
    } else if path.starts_with('/') || path.as_bytes().get(1) == Some(&b':') {
        "it is absolute"
    } else if path.split('/').any(|part| part == "..") {
        "it leads out of its folder"
    } else if path.split('/').any(|part| part.is_empty() || part == ".") {
        "it has an empty part"
    } else {
        return Ok(());
    };
    Err(unsafe_path(path, why))
}

pub(crate) fn unsafe_path(path: &str, why: &'static str) -> PackError {
    PackError::UnsafePath {
        path: path.chars().take(LONGEST_PATH).collect(),
        why,
    }
}

/// Characters that turn the direction of writing.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the folder of a path with a slash at its end, or nothing for a file at the top.
pub(crate) fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    &path[folder(path).len()..]
}

/// Returns the ending of a file's name in lower case.
pub(crate) fn ending(path: &str) -> String {
    file_name(path)
        .rsplit_once('.')
        .map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}

/// Whether a file of this name is taken for a pickle.
pub(crate) fn is_pickle_name(path: &str) -> bool {
    PICKLE_ENDINGS.contains(&ending(path).as_str())
}

/// Whether a file begins like a pickle of protocol 2 or later, or like PyTorch's archive of pickles.
pub(crate) fn is_pickle_start(start: &[u8]) -> bool {
    matches!(start, [0x80, 2..=5, ..]) || start.starts_with(b"PK\x03\x04")
}

/// Checks the name of a pack.
pub(crate) fn check_pack_name(name: &str) -> Result<(), PackError> {
    let mut bytes = name.bytes();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fine = bytes.next().is_some_and(plain)
        && bytes.all(|byte| plain(byte) || matches!(byte, b'.' | b'_' | b'-'))
        && name.len() <= 64
        && name != "embedded";
    fine.then_some(())
        .ok_or_else(|| PackError::NameInvalid { name: name.to_owned() })
}

/// Makes a pack's name of any text; `model` where nothing is left of it.
pub(crate) fn pack_name(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let plain: String = lower
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(56)
        .collect();
    let plain = plain.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if plain.is_empty() || plain == "embedded" {
        "model".to_owned()
    } else {
        plain.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_could_lead_elsewhere_are_refused() {
        for path in [
            "config.json",
            "a/b/model.safetensors",
            "模型/分词.json",
            "a..b",
            ".hidden/x",
        ] {
            assert!(check_path(path).is_ok(), "{path}");
        }
        let long = "x".repeat(600);
        for (path, why) in [
            ("/etc/passwd", "absolute"),
            ("C:/x", "absolute"),
            ("../x", "leads out"),
            ("a/../../x", "leads out"),
            ("a\\..\\x", "backslash"),
            ("a/./b", "empty part"),
            ("a//b", "empty part"),
            ("", "empty"),
            ("a\u{1b}[2J", "control"),
            ("a\nb", "control"),
            ("a\u{202e}nosj.x", "control"),
            (long.as_str(), "too long"),
        ] {
            let error = check_path(path).unwrap_err();
            assert!(error.to_string().contains(why), "{path:?}: {error}");
            assert_eq!(error.code(), "pack_path_unsafe");
        }
    }

    #[test]
    fn pickles_are_known_by_name_and_by_start() {
        for path in ["pytorch_model.bin", "a/SPARSE_LINEAR.PT", "x.pkl", "m.ckpt", "m.joblib"] {
            assert!(is_pickle_name(path), "{path}");
        }
        assert!(!is_pickle_name("model.safetensors") && !is_pickle_name("bin"));
        assert!(is_pickle_start(b"\x80\x04\x95") && is_pickle_start(b"PK\x03\x04..") && !is_pickle_start(b"GGUF"));
    }

    #[test]
    fn names_of_packs_are_plain() {
        for name in ["e5", "bge-m3", "qwen3-embedding-0.6b", "0x_1"] {
            assert!(check_pack_name(name).is_ok(), "{name}");
        }
        for name in ["", "E5", ".x", "a/b", "..", "a b", "模型", "embedded", &"x".repeat(65)] {
            assert_eq!(check_pack_name(name).unwrap_err().code(), "pack_name_invalid", "{name}");
        }
        for (text, name) in [
            ("Qwen3-Embedding-0.6B", "qwen3-embedding-0.6b"),
            ("My Model (v2)", "my-model--v2"),
            ("模型", "model"),
            ("embedded", "model"),
        ] {
            assert_eq!(pack_name(text), name);
            check_pack_name(&pack_name(text)).unwrap();
        }
    }
}
