//! Rows computed from the letters of a token by feature hashing (Weinberger et al. 2009), and how much a token counts.
//!
//! The only place that knows where rows come from: a table of learned rows replaces this file and nothing else. The
//! mixing function is written out here because rows are stored in indexes: they must not change with a library.

use crate::tokens::{Token, TokenKind};
use crate::vector::normalise;

/// Numbers in a row.
pub(crate) const DIMENSION: usize = 256;

/// One token's vector, of norm 1.
pub(crate) type Row = [f32; DIMENSION];

/// Where in a row one feature is written. Fewer is faster, more is smoother; the noise between strangers is the same.
const PLACES: usize = 16;
/// Share of all trigrams of a word beside the word itself.
const TRIGRAM_SHARE: f32 = 0.7;
/// Share of each character beside the pair.
const CHARACTER_SHARE: f32 = 0.35;

/// Keeps features of different sorts apart when their letters are the same.
#[derive(Clone, Copy)]
enum Sort {
    Whole = 1,
    Stem = 2,
    Trigram = 3,
    Character = 4,
}

/// Returns a number that stands for the token: equal numbers have equal rows and weights.
pub(crate) fn identity(token: &Token<'_>) -> u64 {
    mix(hash(Sort::Whole, token.text.as_bytes()).wrapping_add(token.kind as u64))
}

/// Returns the token's row.
pub(crate) fn row(token: &Token<'_>) -> Row {
    let mut row = [0.0; DIMENSION];
    add(&mut row, hash(Sort::Whole, token.text.as_bytes()), 1.0);
    match token.kind {
        TokenKind::Word => {
            add(&mut row, hash(Sort::Stem, stem(token.text).as_bytes()), 1.0);
            add_trigrams(&mut row, token.text);
        }
        TokenKind::Pair => {
            for character in token.text.chars() {
                add(&mut row, hash_character(character), CHARACTER_SHARE);
            }
        }
        TokenKind::Character => token
            .text
            .chars()
            .for_each(|character| add(&mut row, hash_character(character), 1.0)),
        TokenKind::Number => {}
    }
    normalise(&mut row);
    row
}

/// Returns how much the token counts: above 0, about 1 for a usual content word.
pub(crate) fn weight(token: &Token<'_>) -> f32 {
    let length = token.text.chars().count();
    match token.kind {
        TokenKind::Word if EN_STOP_WORDS.binary_search(&token.text).is_ok() => 0.05,
        TokenKind::Word => [0.0, 0.2, 0.5, 0.8, 1.0, 1.0].get(length).copied().unwrap_or(1.2),
        TokenKind::Number => [0.0, 0.3, 0.6].get(length).copied().unwrap_or(1.0),
        TokenKind::Character if token.text.chars().all(is_stop_character) => 0.02,
        TokenKind::Character => 0.25,
        TokenKind::Pair if ZH_STOP_PAIRS.contains(&token.text) => 0.1,
        TokenKind::Pair => [1.0, 0.4, 0.1][token
            .text
            .chars()
            .filter(|&character| is_stop_character(character))
            .count()
            .min(2)],
    }
}

fn add_trigrams(row: &mut Row, word: &str) {
    let framed: Vec<char> = std::iter::once('<')
        .chain(word.chars())
        .chain(std::iter::once('>'))
        .collect();
    let trigrams = framed.windows(3);
    let share = TRIGRAM_SHARE / (trigrams.len().max(1) as f32).sqrt();
    let mut bytes = [0; 12];
    for trigram in trigrams {
        for (character, bytes) in trigram.iter().zip(bytes.as_chunks_mut::<4>().0) {
            *bytes = u32::from(*character).to_le_bytes();
        }
        add(row, hash(Sort::Trigram, &bytes), share);
    }
}

/// Writes a feature: `amount` spread over [`PLACES`] places that the hash chooses, with signs.
fn add(row: &mut Row, feature: u64, amount: f32) {
    let places = [
        mix(feature ^ 0x51_7C_C1_B7_27_22_0A_95),
        mix(feature ^ 0x2B_99_2D_DF_A2_32_49_D6),
    ];
    let mut signs = mix(feature ^ 0x6E_5D_1E_8F_0C_33_A7_41);
    let amount = amount / (PLACES as f32).sqrt();
    for place in places.iter().flat_map(|word| word.to_le_bytes()) {
        row[usize::from(place)] += if signs & 1 == 0 { amount } else { -amount };
        signs >>= 1;
    }
}

fn hash_character(character: char) -> u64 {
    hash(Sort::Character, &u32::from(character).to_le_bytes())
}

/// FNV-1a, then mixed, because its high bits are poor for short texts.
fn hash(sort: Sort, bytes: &[u8]) -> u64 {
    let start = 0xCBF2_9CE4_8422_2325 ^ (sort as u64);
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    mix(bytes.iter().fold(start, step))
}

/// The finaliser of SplitMix64.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Cuts common English endings, so that forms of a word share a feature. It need not be right, only consistent.
fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let cut = ["ingly", "edly", "ing", "ies", "ied", "es", "ed", "ly", "s", "e", "y"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= 3))
        .unwrap_or(word);
    match cut.as_bytes() {
        [.., before, last] if before == last && cut.len() > 3 && cut.len() < word.len() && !b"ls".contains(last) => {
            &cut[..cut.len() - 1]
        }
        _ => cut,
    }
}

/// Sorted: looked up by bisection.
#[rustfmt::skip]
const EN_STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don", "for", "from", "had",
    "has", "have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "ll",
    "m", "may", "me", "might", "more", "most", "my", "no", "not", "of", "on", "or", "other", "our", "out", "over",
    "re", "s", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "under", "up", "us", "ve", "very", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

const ZH_STOP_PAIRS: &[&str] = &[
    "什么", "什麼", "怎么", "怎麼", "怎样", "怎樣", "如何", "哪些", "哪个", "哪個", "哪里", "哪裡", "多少", "为何",
    "為何", "可以", "我们", "我們", "你们", "他们", "他們", "她们", "它们", "这个", "這個", "那个", "那個", "这些",
    "那些", "一个", "一個", "没有", "沒有", "以及", "因为", "因為", "所以", "如果", "但是", "或者", "就是", "还是",
];

fn is_stop_character(character: char) -> bool {
    "的了是在和与與及或也都就而且但把被让讓对對为為从從到于於以其之这這那哪什么麼吗嗎呢吧啊呀我你他她它们們有个個不很会會能要将將所则則谁誰".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::for_each_token;
    use crate::vector::dot;

    fn rows(text: &str) -> Vec<Row> {
        let mut rows = Vec::new();
        for_each_token(text, |token| rows.push(row(&token)));
        rows
    }

    fn cosine(left: &str, right: &str) -> f32 {
        let last = |text| rows(text).pop().unwrap();
        dot(&last(left), &last(right))
    }

    #[test]
    fn the_stop_list_can_be_bisected() {
        assert!(EN_STOP_WORDS.is_sorted());
    }

    #[test]
    fn forms_of_a_word_are_nearer_than_strangers() {
        for (left, right, stranger) in [
            ("run", "running", "table"),
            ("runs", "running", "kitchen"),
            ("policy", "policies", "garden"),
            ("retrieve", "retrieval", "garden"),
        ] {
            let near = cosine(left, right);
            assert!(
                near > 0.15 && near > 2.0 * cosine(left, stranger).abs(),
                "{left} {right} {near}"
            );
        }
    }

    #[test]
    fn ways_to_write_an_identifier_share_its_row() {
        assert_eq!(cosine("gen-itgc", "genItgc"), cosine("genitgc", "genitgc"));
        assert!(cosine("multi-agent", "multiagent") > 0.999);
    }

    #[test]
    fn strangers_are_nearly_orthogonal() {
        let words = [
            "apple", "river", "castle", "quantum", "bottle", "云", "天气", "数据", "苹果", "42", "1984",
        ];
        for (at, left) in words.iter().enumerate() {
            for right in &words[at + 1..] {
                assert!(cosine(left, right).abs() < 0.3, "{left} {right}");
            }
        }
    }

    #[test]
    fn rows_are_what_they_were() {
        // Rows are stored in indexes: other numbers need another revision.
        let row = &rows("memory")[0];
        let first: Vec<(usize, f32)> = row
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, number)| *number != 0.0)
            .take(3)
            .collect();
        assert_eq!(format!("{first:.4?}"), "[(4, -0.0446), (6, -0.0446), (8, 0.0446)]");
    }

    #[test]
    fn function_words_count_little_but_not_nothing() {
        let mut weights = Vec::new();
        for_each_token("the index 的", |token| weights.push(weight(&token)));
        assert!(weights[0] > 0.0 && weights[0] < weights[1] && weights[2] > 0.0 && weights[2] < 0.1);
    }
}
