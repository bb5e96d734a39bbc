use super::*;

fn sample() -> Vec<u8> {
    let metadata = [
        ("a.text".to_owned(), GgufValue::Text("模型".to_owned())),
        ("b.whole".to_owned(), GgufValue::Int(12)),
        ("c.long".to_owned(), GgufValue::Int(-1)),
        ("d.float".to_owned(), GgufValue::Float(0.5)),
        ("e.bool".to_owned(), GgufValue::Bool(true)),
    ];
    let tensor = |name: &str, kind: TensorType, shape: &[u64]| NewTensor {
        name: name.to_owned(),
        bytes: kind.bytes(weights(shape).unwrap()).unwrap(),
        kind,
        shape: shape.to_vec(),
    };
    let tensors = [
        tensor("x", TensorType::Q4_0, &[2, 64]),
        tensor("y", TensorType::F32, &[3]),
    ];
    let mut bytes = Vec::new();
    write_header(&mut bytes, &metadata, &tensors).unwrap();
    bytes.resize(bytes.len() + 96 + 12, 7);
    bytes
}

fn read(bytes: &[u8]) -> Result<GgufHeader, String> {
    GgufHeader::read(bytes, bytes.len() as u64)
}

/// Puts other bytes where these are.
fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

#[test]
fn what_is_written_is_read() {
    let bytes = sample();
    let header = read(&bytes).unwrap();
    assert_eq!(header.metadata["a.text"], GgufValue::Text("模型".to_owned()));
    assert_eq!(header.metadata["b.whole"].unsigned(), Some(12));
    assert_eq!(header.metadata["c.long"], GgufValue::Int(-1));
    assert_eq!(header.metadata["d.float"], GgufValue::Float(0.5));
    let (x, y) = (header.tensor("x").unwrap(), header.tensor("y").unwrap());
    assert_eq!((x.shape.as_slice(), x.bytes, y.bytes), ([2, 64].as_slice(), 72, 12));
    assert_eq!(y.start, x.start + 96);
    assert_eq!(y.start + 12, bytes.len() as u64);
}

#[test]
fn a_file_cut_anywhere_is_told() {
    let bytes = sample();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn a_header_that_does_not_hold_is_told() {
    let bytes = sample();
    let check = |changed: &[u8], problem: &str| {
        let error = read(changed).unwrap_err();
        assert!(error.contains(problem), "{error}");
    };
    check(&replace(&bytes, b"GGUF", b"GGML"), "begin with GGUF");
    check(&replace(&bytes, b"GGUF\x03", b"GGUF\x04"), "version 4");
    check(
        &replace(&bytes, b"GGUF\x03\0\0\0\x02", b"GGUF\x03\0\0\0\xff"),
        "longer than the file",
    );
    let many = [b"GGUF\x03\0\0\0".as_slice(), &[0xff; 8]].concat();
    check(&replace(&bytes, &bytes[..16], &many), "tensors and");
    check(&replace(&bytes, b"d.float", b"b.whole"), "twice");
    let named = |name: &[u8], rest: &[u8]| [1_u64.to_le_bytes().as_slice(), name, rest].concat();
    // Two tensors of one name, a fifth dimension, an odd place, a place far out, a place over the first, half a block.
    check(&replace(&bytes, &named(b"y", b""), &named(b"x", b"")), "twice");
    check(&replace(&bytes, &named(b"y", &[1]), &named(b"y", &[5])), "5 dimensions");
    check(
        &replace(&bytes, &96_u64.to_le_bytes(), &97_u64.to_le_bytes()),
        "no multiple",
    );
    check(
        &replace(&bytes, &96_u64.to_le_bytes(), &128_u64.to_le_bytes()),
        "within the file",
    );
    check(
        &replace(&bytes, &96_u64.to_le_bytes(), &32_u64.to_le_bytes()),
        "over another",
    );
    check(
        &replace(&bytes, &64_u64.to_le_bytes(), &48_u64.to_le_bytes()),
        "no multiple of 32",
    );
    let huge = replace(&bytes, &64_u64.to_le_bytes(), &(1_u64 << 63).to_le_bytes());
    check(&huge, "too large");
}

#[test]
fn a_list_longer_than_the_file_is_not_believed() {
    for kind in [0_u32, 4, 8, 12] {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend_from_slice(&0_u64.to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.push(b'k');
        bytes.extend_from_slice(&9_u32.to_le_bytes());
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&(u64::MAX / 4).to_le_bytes());
        let error = read(&bytes).unwrap_err();
        assert!(error.contains("longer than the file"), "{error}");
    }
}
