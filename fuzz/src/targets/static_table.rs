//! Artefacts of the static encoder that are not what they should be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use casebook_encoder::{StaticEncoder, StaticTable};
use casebook_index::{TextEncoder, TextSide};

/// A whole artefact of a few pieces, laid out as the embedded one.
const SMALL: &[u8] = include_bytes!("../../seeds/static_table/small.bin");
const DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A table lives as long as the process, so each input leaks. Past this many bytes inputs are passed over.
const LEAK: usize = 256 << 20;
/// More edits leave nothing of the artefact.
const EDITS: usize = 24;

static LEAKED: AtomicUsize = AtomicUsize::new(0);

/// Reads the bytes as an artefact, or as edits of one: two bytes of position, one of value. It is refused with a typed
/// error, or the table holds to its own bounds.
pub(crate) fn static_table(data: &[u8]) {
    let bytes = if data.starts_with(b"CBSTATIC") {
        data.to_vec()
    } else {
        edited(data)
    };
    if LEAKED.fetch_add(bytes.len(), Ordering::Relaxed) > LEAK {
        return;
    }
    let Ok(table) = StaticTable::read(bytes.leak(), DIGEST) else {
        return;
    };
    let text = "重建索引后的查詢 ﬁle rebuild the Index12 readFile ½Ａ e\u{301}@";
    for token in table.tokens(text) {
        assert!((token.row as usize) < table.len());
        assert!(text.is_char_boundary(token.span.start) && text.is_char_boundary(token.span.end));
    }
    for language in ["zh", "en"] {
        let mean = table
            .language_mean(language)
            .expect("a table has a mean of each language");
        assert!(mean.len() == table.dimension() && mean.iter().all(|number| number.is_finite()));
    }
    let encoder = StaticEncoder::new(Arc::new(table));
    let vector = encoder.encode_query(text).expect("any text has a vector");
    let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-3, "norm {norm}");
    let tokens = encoder.token_vectors(text, TextSide::Query);
    let tokens = tokens.expect("any text has tokens").expect("a table has token vectors");
    assert!(
        tokens
            .iter()
            .all(|token| token.weight > 0.0 && token.weight.is_finite())
    );
    assert!(!tokens.is_empty() || norm == 0.0, "a direction comes from somewhere");
}

fn edited(edits: &[u8]) -> Vec<u8> {
    let mut bytes = SMALL.to_vec();
    let (edits, _) = edits.as_chunks::<3>();
    for &[low, high, value] in edits.iter().take(EDITS) {
        let at = usize::from(u16::from_le_bytes([low, high])) % bytes.len();
        bytes[at] = value;
    }
    bytes
}
