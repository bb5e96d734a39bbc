//! Which line a byte is on. A line ends with LF, CR LF or a lone CR, as in CommonMark.

/// Counts lines forward through a text, so that finding all units' lines costs one pass.
#[derive(Debug)]
pub(crate) struct LineCursor<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> LineCursor<'a> {
    /// Starts at the text's first byte, which is on `line`.
    pub(crate) fn new(text: &'a str, line: usize) -> Self {
        Self { text, at: 0, line }
    }

    /// Returns the line of the byte at `at`, which lies at or after the last one asked for and not within a CR LF.
    pub(crate) fn line_of(&mut self, at: usize) -> usize {
        self.line += line_breaks(&self.text[self.at..at]);
        self.at = at;
        self.line
    }
}

/// Returns the number of line ends.
pub(crate) fn line_breaks(text: &str) -> usize {
    let bytes = text.as_bytes();
    let feeds = bytes.iter().filter(|&&byte| byte == b'\n').count();
    if !bytes.contains(&b'\r') {
        return feeds;
    }
    let lone = |(at, &byte): (usize, &u8)| byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    feeds + bytes.iter().enumerate().filter(|&pair| lone(pair)).count()
}

/// Returns the start of the line that the byte at `at` is on, or `floor` where that lies after it.
pub(crate) fn line_start(text: &str, floor: usize, at: usize) -> usize {
    text[floor..at]
        .rfind(['\n', '\r'])
        .map_or(floor, |found| floor + found + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[(&str, usize)]) {
        let mut cursor = LineCursor::new(text, 1);
        for &(needle, line) in lines {
            assert_eq!(
                cursor.line_of(text.find(needle).unwrap()),
                line,
                "{needle:?} in {text:?}"
            );
        }
    }

    #[test]
    fn every_line_end_counts_once() {
        check("a\nb\n\nc", &[("a", 1), ("b", 2), ("c", 4)]);
        check("a\r\nb\r\n\r\nc", &[("a", 1), ("b", 2), ("c", 4)]);
        check("a\rb\r\rc", &[("a", 1), ("b", 2), ("c", 4)]);
        check("a\n\rb\r\nc", &[("b", 3), ("c", 4)]);
    }

    #[test]
    fn a_line_starts_after_its_break_or_at_the_floor() {
        assert_eq!(line_start("ab\n  c", 0, 5), 3);
        assert_eq!(line_start("ab\r  c", 0, 5), 3);
        assert_eq!(line_start("ab\n  c", 4, 5), 4);
    }
}
