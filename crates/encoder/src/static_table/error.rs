//! Why an artefact cannot be used.

/// Bytes are not a usable static table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StaticTableError {
    /// The first bytes are not those of an artefact.
    #[error("not a static table")]
    Magic,
    /// The layout is of another version.
    #[error("static table of version {found}, expected {expected}")]
    Version {
        /// Version in the header.
        found: u32,
        /// Version that is read.
        expected: u32,
    },
    /// Too many pieces, or rows of a length that is not read.
    #[error("static table of {pieces} pieces with {dimension} numbers each, out of range")]
    Shape {
        /// Pieces by the header.
        pieces: u32,
        /// Numbers in a row by the header.
        dimension: u32,
    },
    /// A section is not where it has to be, or not as long.
    #[error("section {index} of the static table is out of place")]
    Section {
        /// Its position.
        index: usize,
    },
    /// The bytes do not end where the header says.
    #[error("static table of {found} bytes, expected {expected}")]
    Length {
        /// Bytes given.
        found: u64,
        /// Bytes by the header.
        expected: u64,
    },
    /// A piece of text is impossible.
    #[error("piece {index} of the static table is {problem}")]
    Piece {
        /// Its row.
        index: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A character's replacement is impossible.
    #[error("folded character {index} of the static table is {problem}")]
    Fold {
        /// Its position.
        index: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A row's scale is negative or no number.
    #[error("scale {index} of the static table is out of range")]
    Scale {
        /// Its row.
        index: usize,
    },
    /// A mean vector holds something that is no number.
    #[error("mean vectors of the static table are out of range")]
    Mean,
    /// The digest to compare with is none.
    #[error("digest of the static table is not 64 hexadecimal digits")]
    DigestFormat,
    /// The bytes are not those that the digest was made of.
    #[error("static table does not match its digest")]
    Digest,
}
