//! The table that is compiled in: `assets/static-zhen-256.bin`, made by `tools/distill`.

use std::sync::{Arc, OnceLock};

use crate::StaticTable;

static BYTES: &[u8] = include_bytes!("../assets/static-zhen-256.bin");

/// SHA-256 of [`BYTES`]; a test compares.
const DIGEST: &str = include_str!("../assets/static-zhen-256.sha256");

/// Returns the embedded table, read once for the process.
pub fn embedded_table() -> Arc<StaticTable> {
    static TABLE: OnceLock<Arc<StaticTable>> = OnceLock::new();
    let read = || StaticTable::read(BYTES, DIGEST).expect("the embedded table was checked when it was compiled in");
    Arc::clone(TABLE.get_or_init(|| Arc::new(read())))
}
