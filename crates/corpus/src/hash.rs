//! SHA-256 digests with a type per meaning. Shown and stored as 64 lower-case hex digits.

use sha2::{Digest, Sha256};

/// The text is not 64 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hex digits, found {found:?}")]
pub struct ParseHashError {
    found: String,
}

/// Declares a digest type.
macro_rules! digest {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// Hashes the bytes.
            pub fn of(bytes: impl AsRef<[u8]>) -> Self {
                Self(Sha256::digest(bytes.as_ref()).into())
            }

            /// Wraps a digest computed elsewhere.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns the digest as four words, little-endian.
            pub fn words(&self) -> [u64; 4] {
                let words = self.0.as_chunks::<8>().0;
                std::array::from_fn(|n| u64::from_le_bytes(words[n]))
            }

            /// Returns the 32 raw bytes.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl std::str::FromStr for $name {
            type Err = ParseHashError;

            fn from_str(text: &str) -> Result<Self, ParseHashError> {
                parse_hex(text).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

digest! {
    /// SHA-256 of a content: a resource's canonical form, a unit's text, an encoder's input.
    ContentHash
}
digest! {
    /// SHA-256 of a manifest's canonical form: equal content gives an equal hash on every machine.
    EffectiveHash
}

fn parse_hex(text: &str) -> Result<[u8; 32], ParseHashError> {
    let wrong = || ParseHashError {
        found: text.chars().take(80).collect(),
    };
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| wrong())?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_survives_its_text_form() {
        let hash = ContentHash::of("记忆 memory");
        assert_eq!(hash.to_string().parse::<ContentHash>().unwrap(), hash);
    }

    #[test]
    fn text_that_is_no_hash_is_refused() {
        for text in ["", "abc", &"é".repeat(32), &"g".repeat(64)] {
            assert!(text.parse::<ContentHash>().is_err(), "{text:?}");
        }
    }
}
