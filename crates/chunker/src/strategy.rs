//! How a body is cut. `heading-384` is what users get; the others exist to be compared with it.

/// A named way to cut a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Heading sections; a section over 480 tokens is packed into parts of 384, a block over 480 becomes windows of
    /// 384 with 48 overlap.
    #[default]
    Heading384,
    /// Windows of 256 tokens, blind to structure.
    Fixed256,
    /// Windows of 512 tokens, blind to structure.
    Fixed512,
    /// Windows of 1024 tokens, blind to structure.
    Fixed1024,
    /// Whole blocks packed to 512 tokens, blind to headings; a longer block becomes windows of 512.
    Para512,
    /// As `para-512`, its windows with 64 overlap.
    Para512Overlap64,
}

/// The text names no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown chunking strategy {found:?}; expected one of {}", Strategy::ALL.map(Strategy::as_str).join(", "))]
pub struct ParseStrategyError {
    found: String,
}

/// Which boundaries a strategy sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    Headings,
    Blocks,
    Bytes,
}

/// A strategy in numbers. Tokens throughout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) grain: Grain,
    /// A body up to here is one root unit; blocks are packed up to here; the width of a window.
    pub(crate) pack: usize,
    /// A section or a single block up to here stays whole.
    pub(crate) whole: usize,
    /// What two neighbouring windows share.
    pub(crate) overlap: usize,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 6] = [
        Self::Heading384,
        Self::Fixed256,
        Self::Fixed512,
        Self::Fixed1024,
        Self::Para512,
        Self::Para512Overlap64,
    ];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Heading384 => "heading-384",
            Self::Fixed256 => "fixed-256",
            Self::Fixed512 => "fixed-512",
            Self::Fixed1024 => "fixed-1024",
            Self::Para512 => "para-512",
            Self::Para512Overlap64 => "para-512-ov64",
        }
    }

    /// Returns the version: raised whenever the same input would give another unit.
    pub(crate) const fn version(self) -> u32 {
        1
    }

    pub(crate) const fn plan(self) -> Plan {
        let (grain, pack, whole, overlap) = match self {
            Self::Heading384 => (Grain::Headings, 384, 480, 48),
            Self::Fixed256 => (Grain::Bytes, 256, 256, 0),
            Self::Fixed512 => (Grain::Bytes, 512, 512, 0),
            Self::Fixed1024 => (Grain::Bytes, 1024, 1024, 0),
            Self::Para512 => (Grain::Blocks, 512, 512, 0),
            Self::Para512Overlap64 => (Grain::Blocks, 512, 512, 64),
        };
        Plan {
            grain,
            pack,
            whole,
            overlap,
        }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Strategy {
    type Err = ParseStrategyError;

    fn from_str(text: &str) -> Result<Self, ParseStrategyError> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.as_str() == text)
            .ok_or_else(|| ParseStrategyError {
                found: text.chars().take(80).collect(),
            })
    }
}
