//! The mean vector of a language, from sentences of our own that say the same in both.

use casebook_index::{EncodeError, Language, Passage, TextEncoder};

use super::TransformerEncoder;
use crate::packs::Means;

/// A sentence a line: English, a tab, Chinese. The two say the same, so that what differs is the language.
const SENTENCES: &str = include_str!("../../assets/languages.tsv");

/// Returns the mean vectors of English and of Chinese under an encoder, each of the encoder's dimension, over 32 sentences
/// that say the same.
///
/// # Errors
/// When the encoder cannot work.
pub fn language_means(encoder: &TransformerEncoder) -> Result<Means, EncodeError> {
    let pairs: Vec<(&str, &str)> = SENTENCES.lines().filter_map(|line| line.split_once('\t')).collect();
    let english: Vec<&str> = pairs.iter().map(|pair| pair.0).collect();
    let chinese: Vec<&str> = pairs.iter().map(|pair| pair.1).collect();
    [(Language::En, english), (Language::Zh, chinese)]
        .into_iter()
        .map(|(language, texts)| Ok((language.as_str().to_owned(), mean(encoder, &texts)?)))
        .collect()
}

fn mean(encoder: &TransformerEncoder, texts: &[&str]) -> Result<Vec<f32>, EncodeError> {
    let passages: Vec<Passage<'_>> = texts
        .iter()
        .map(|text| Passage {
            path: "",
            heading_path: &[],
            text,
        })
        .collect();
    let mut mean = vec![0.0; encoder.dimension()];
    for encoded in encoder.encode_passages(&passages, &())? {
        for (sum, number) in mean.iter_mut().zip(encoded.vector) {
            *sum += number / texts.len() as f32;
        }
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_there_in_both_languages() {
        for line in SENTENCES.lines() {
            let (english, chinese) = line.split_once('\t').expect(line);
            assert_eq!(Language::of(english), Language::En, "{line}");
            assert_eq!(Language::of(chinese), Language::Zh, "{line}");
        }
        assert_eq!(SENTENCES.lines().count(), 32);
    }
}
