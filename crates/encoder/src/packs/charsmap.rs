//! Precompiled character maps of SentencePiece: a double array of byte strings, and what each becomes.
//!
//! The one thing a newcomer gets wrong: the reader in `tokenizers` indexes this array without looking, so one that leads
//! out of itself would end the process. [`check`] walks it before any model is taken.
//!
//! Layout: u32 length of the array in bytes, the array of u32 units, then the outputs, each ended by a zero byte. A unit has
//! its label in bits 0 to 7 and 31, bit 8 says that a value hangs below, and bits 9 and up hold the way to the children:
//! bits 10 and up, shifted by 8 more where bit 9 is set. Children lie at the exclusive or of that place and their byte; the
//! child of byte 0 is the value.

use std::collections::BTreeMap;

const HAS_VALUE: u32 = 1 << 8;
const IS_VALUE: u32 = 1 << 31;
/// The way to children is 21 bits where it is not shifted.
const FURTHEST: usize = 1 << 21;
/// Characters that one output may have; compatibility decomposition of Unicode needs 18.
const LONGEST_OUTPUT: usize = 32;

/// Makes the map in which each character stands alone.
///
/// # Errors
/// When it would be larger than the format allows, or an output has a zero byte.
pub(crate) fn build(map: &BTreeMap<char, String>) -> Result<Vec<u8>, String> {
    let mut outputs = Vec::new();
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    let mut root = Node::default();
    for (from, to) in map {
        if *from == '\0' || to.contains('\0') {
            return Err("a zero byte cannot be mapped".to_owned());
        }
        let place = match places.get(to.as_str()) {
            Some(place) => *place,
            None => {
                let place = u32::try_from(outputs.len()).map_err(|error| error.to_string())?;
                outputs.extend_from_slice(to.as_bytes());
                outputs.push(0);
                places.insert(to, place);
                place
            }
        };
        let mut node = &mut root;
        for byte in from.encode_utf8(&mut [0; 4]).bytes() {
            node = node.children.entry(byte).or_default();
        }
        node.value = Some(place);
    }
    let units = Array::default().fill(&root)?;
    let length = u32::try_from(units.len() * 4).map_err(|error| error.to_string())?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend_from_slice(&outputs);
    Ok(bytes)
}

#[derive(Default)]
struct Node {
    value: Option<u32>,
    children: BTreeMap<u8, Node>,
}

#[derive(Default)]
struct Array {
    units: Vec<u32>,
    taken: Vec<bool>,
    /// Places that children of some node are counted from: never of two nodes.
    origins: Vec<bool>,
    /// Where to look for room first.
    from: usize,
}

impl Array {
    fn fill(mut self, root: &Node) -> Result<Vec<u32>, String> {
        self.grow(256);
        self.taken[0] = true;
        let mut open = vec![(0_usize, root)];
        while let Some((place, node)) = open.pop() {
            if node.children.is_empty() && node.value.is_none() {
                continue;
            }
            let labels: Vec<u8> = node
                .value
                .map(|_| 0)
                .into_iter()
                .chain(node.children.keys().copied())
                .collect();
            let origin = self.room(&labels)?;
            self.origins[origin] = true;
            let way = u32::try_from(place ^ origin).map_err(|error| error.to_string())?;
            self.units[place] |= way << 10;
            if let Some(value) = node.value {
                self.units[place] |= HAS_VALUE;
                self.units[origin] = value | IS_VALUE;
                self.taken[origin] = true;
            }
            for (byte, child) in &node.children {
                let at = origin ^ usize::from(*byte);
                self.units[at] = u32::from(*byte);
                self.taken[at] = true;
                open.push((at, child));
            }
        }
        Ok(self.units)
    }

    /// Finds an origin from which all labels lie on free places.
    fn room(&mut self, labels: &[u8]) -> Result<usize, String> {
        while self.taken.get(self.from) == Some(&true) {
            self.from += 1;
        }
        let mut origin = self.from;
        loop {
            if origin + 256 >= FURTHEST {
                return Err("the character map is too large".to_owned());
            }
            // A block of 256 holds every place that an origin in it can reach.
            self.grow((origin | 255) + 1);
            let free = |label: &u8| !self.taken[origin ^ usize::from(*label)];
            if !self.origins[origin] && labels.iter().all(free) {
                return Ok(origin);
            }
            origin += 1;
        }
    }

    fn grow(&mut self, size: usize) {
        if self.units.len() < size {
            self.units.resize(size, 0);
            self.taken.resize(size, false);
            self.origins.resize(size, false);
        }
    }
}

/// Checks that no text can lead a reader out of the map, and returns the characters of the longest output.
///
/// # Errors
/// Says what does not hold.
pub(crate) fn check(bytes: &[u8]) -> Result<usize, String> {
    let (length, rest) = bytes.split_at_checked(4).ok_or("the character map is cut off")?;
    let length = u32::from_le_bytes(length.try_into().map_err(|_| "the character map is cut off")?) as usize;
    let (array, outputs) = rest
        .split_at_checked(length - length % 4)
        .ok_or("the character map is cut off")?;
    let outputs = std::str::from_utf8(outputs).map_err(|_| "outputs of the character map are not UTF-8")?;
    let units: Vec<u32> = array
        .chunks_exact(4)
        .map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]))
        .collect();
    let way = |unit: u32| ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize;
    let first = *units.first().ok_or("the character map is empty")?;
    let mut longest = 0;
    let mut seen = vec![false; units.len()];
    let mut open = vec![way(first)];
    while let Some(origin) = open.pop() {
        if *seen.get(origin).ok_or("the character map leads out of itself")? {
            continue;
        }
        seen[origin] = true;
        for byte in 1..=255_usize {
            let at = origin ^ byte;
            let unit = *units.get(at).ok_or("the character map leads out of itself")?;
            if unit & (IS_VALUE | 0xff) != u32::try_from(byte).unwrap_or(u32::MAX) {
                continue;
            }
            let below = at ^ way(unit);
            if unit & HAS_VALUE != 0 {
                let value = units.get(below).ok_or("the character map leads out of itself")? & !IS_VALUE;
                let output = outputs.get(value as usize..);
                let output = output.ok_or("an output of the character map is not there")?;
                // Outputs may share their ends, so that looking for a far end each time would take the square of the file.
                let output = output.chars().take(LONGEST_OUTPUT + 1);
                let length = output.take_while(|character| *character != '\0').count();
                if length > LONGEST_OUTPUT {
                    return Err(format!(
                        "an output of the character map has more than {LONGEST_OUTPUT} characters"
                    ));
                }
                longest = longest.max(length);
            }
            open.push(below);
        }
    }
    Ok(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BTreeMap<char, String> {
        let mut map: BTreeMap<char, String> = ('ａ'..='ｚ')
            .zip('a'..='z')
            .map(|(wide, thin)| (wide, thin.to_string()))
            .collect();
        map.extend([
            ('\u{ad}', String::new()),
            ('\t', " ".to_owned()),
            ('㍿', "株式会社".to_owned()),
            ('𝟘', "0".to_owned()),
        ]);
        map
    }

    fn normalise(bytes: &[u8], text: &str) -> String {
        let map = tokenizers::normalizers::precompiled::Precompiled::from(bytes).unwrap();
        map.normalize_string(text)
    }

    #[test]
    fn the_reader_finds_what_was_built() {
        let map = sample();
        let bytes = build(&map).unwrap();
        assert_eq!(check(&bytes), Ok(4));
        for (from, to) in &map {
            assert_eq!(normalise(&bytes, &from.to_string()), *to);
        }
        let plain = "日志 rotate 每 10 MB 轮转 é ﬂ ㍾ 𝟙";
        assert_eq!(normalise(&bytes, plain), plain);
        assert_eq!(normalise(&bytes, "ｄｅｐｌｏｙ\t㍿"), "deploy 株式会社");
    }

    #[test]
    fn a_map_that_leads_out_of_itself_is_told() {
        let bytes = build(&sample()).unwrap();
        for broken in [&bytes[..0], &bytes[..3], &bytes[..40], &[0, 0, 0, 0]] {
            check(broken).unwrap_err();
        }
        // Every single changed byte either leaves a map that can be walked or is told.
        for at in 0..bytes.len().min(4000) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            if check(&changed).is_ok() {
                normalise(&changed, "ａｂｃ\t㍿ \u{ad}x");
            }
        }
        let mut far = bytes.clone();
        far[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(check(&far).unwrap_err().contains("out of itself"));
    }

    #[test]
    fn an_output_that_would_swell_a_text_is_told() {
        let map = |length| build(&[('a', "b".repeat(length))].into()).unwrap();
        assert_eq!(check(&map(LONGEST_OUTPUT)), Ok(LONGEST_OUTPUT));
        assert!(check(&map(LONGEST_OUTPUT + 1)).unwrap_err().contains("more than 32"));
    }

    #[test]
    fn zero_bytes_cannot_be_mapped() {
        assert!(build(&[('\0', String::new())].into()).is_err());
        assert!(build(&[('a', "\0".to_owned())].into()).is_err());
    }
}
