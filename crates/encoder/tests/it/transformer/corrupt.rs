//! Damaged files: an error that names the file, or a model that still works; never a panic, never an endless reservation.

use casebook_encoder::TransformerError;
use casebook_index::TextEncoder as _;
use proptest::prelude::*;

use super::pack::Pack;

const PACKS: [(&str, &str); 4] = [
    ("bert-mean", "model.safetensors"),
    ("bert-gguf-f16", "model.gguf"),
    ("bert-gguf-q8_0", "model.gguf"),
    ("qwen3-gguf-q4_0", "model.gguf"),
];

/// Tries to open and to use what is in the pack.
fn check(pack: &Pack, file: &str) -> bool {
    match pack.encoder() {
        Ok(encoder) => {
            if let Ok(vector) = encoder.encode_query("索引 index") {
                assert!(vector.iter().all(|number| number.is_finite()));
            }
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(file), "{message}");
            false
        }
    }
}

#[test]
fn every_shorter_weight_file_is_refused() {
    for (name, file) in PACKS {
        let mut pack = Pack::new(name);
        let whole = pack.read(file);
        let step = whole.len() / 60;
        for length in (0..whole.len()).step_by(step).chain([whole.len() - 33]) {
            pack.replace(file, &whole[..length]);
            assert!(!check(&pack, file), "{name} of {length} bytes");
        }
    }
}

#[test]
fn counts_that_no_file_can_hold_are_refused() {
    // Tensors, metadata, the length of the first key.
    for at in [8, 16, 24] {
        for count in [u64::MAX, 1 << 62, 1 << 40] {
            let mut pack = Pack::new("bert-gguf-q8_0");
            let mut bytes = pack.read("model.gguf");
            bytes[at..at + 8].copy_from_slice(&count.to_le_bytes());
            pack.replace("model.gguf", &bytes);
            assert!(!check(&pack, "model.gguf"));
        }
    }
    for count in [u64::MAX, 1 << 62, 1 << 40, 99_999_999] {
        let mut pack = Pack::new("bert-mean");
        let mut bytes = pack.read("model.safetensors");
        bytes[..8].copy_from_slice(&count.to_le_bytes());
        pack.replace("model.safetensors", &bytes);
        assert!(!check(&pack, "model.safetensors"));
    }
}

#[test]
fn what_is_no_number_is_refused_with_its_tensor() {
    let mut pack = Pack::new("bert-mean");
    let mut bytes = pack.read("model.safetensors");
    let end = bytes.len() - 4;
    bytes[end..].copy_from_slice(&f32::NAN.to_le_bytes());
    pack.replace("model.safetensors", &bytes);
    let error = pack.encoder().unwrap_err();
    assert!(
        matches!(&error, TransformerError::NotFinite { file, tensor } if file == "model.safetensors" && !tensor.is_empty()),
        "{error}"
    );
}

#[test]
fn a_tensor_in_a_storage_that_is_not_read_is_refused_by_name() {
    let mut pack = Pack::new("bert-mean");
    let text = pack.read("model.safetensors");
    let header = u64::from_le_bytes(text[..8].try_into().unwrap()) as usize;
    let json = String::from_utf8(text[8..8 + header].to_vec()).unwrap();
    let json = json.replace("\"F32\"", "\"I32\"");
    pack.replace(
        "model.safetensors",
        &[&text[..8], json.as_bytes(), &text[8 + header..]].concat(),
    );
    let message = pack.encoder().unwrap_err().to_string();
    assert_eq!(
        message,
        "tensor embeddings.word_embeddings.weight of file model.safetensors of the model pack is stored as I32, which is not read"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_never_panic(
        which in 0..PACKS.len(),
        flips in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 1..8),
        early in any::<bool>(),
    ) {
        let (name, file) = PACKS[which];
        let mut pack = Pack::new(name);
        let mut bytes = pack.read(file);
        // The table of contents is where most can go wrong.
        let most = if early { 4000.min(bytes.len()) } else { bytes.len() };
        for (place, byte) in flips {
            bytes[(place * most as f64) as usize] = byte;
        }
        pack.replace(file, &bytes);
        check(&pack, file);
    }

    #[test]
    fn damaged_tokenizers_and_configurations_never_panic(
        place in 0.0..1.0_f64,
        byte in any::<u8>(),
        file in prop::sample::select(vec!["tokenizer.json", "config.json"]),
        name in prop::sample::select(vec!["bert-mean", "xlm-roberta-sparse", "qwen3-last"]),
    ) {
        let mut pack = Pack::new(name);
        let mut bytes = pack.read(file);
        let at = (place * bytes.len() as f64) as usize;
        bytes[at] = byte;
        pack.replace(file, &bytes);
        if let Ok(encoder) = pack.encoder() {
            let _ = encoder.encode_query("索引 index");
        }
    }
}
