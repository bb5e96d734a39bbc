//! Deterministic mutation of seeds.

/// What the targets' inputs are made of; pure noise rarely gets past the first line.
const TOKENS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    "---\n",
    "# ",
    "## ",
    "===\n",
    "```\n",
    "~~~",
    "> ",
    "- ",
    "1. ",
    "    ",
    "\t",
    "|",
    "[",
    "](",
    "]: ",
    "*",
    "`",
    "<!--",
    "-->",
    "<div>\n",
    "\\",
    "&amp;",
    "\0",
    "\u{feff}",
    "\u{301}",
    "\u{200d}",
    "👩‍👩‍👧",
    "🇨🇳",
    "记忆",
    "한",
    "é",
    ": ",
    "\"",
    "'",
    "&a ",
    "*a",
    "!!",
    "{",
    "}",
    "id: ",
    "description: ",
    "title: ",
    "valid_from: ",
    "importance: ",
    "null",
    "1e999",
];
/// Inputs stay below this many bytes, so that a run sees many of them.
const MOST: usize = 1 << 14;

/// Makes inputs from seeds; the same number and seeds give the same inputs.
#[derive(Clone, Debug)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// Starts from a number.
    pub fn new(number: u64) -> Self {
        // A state of zero would stay zero.
        Self {
            state: (number ^ 0x9e37_79b9_7f4a_7c15).max(1),
        }
    }

    /// Returns the next input: one of the seeds, changed one to eight times.
    pub fn next_input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = self.pick(seeds).cloned().unwrap_or_default();
        for _ in 0..=self.below(8) {
            self.change(&mut input, seeds);
        }
        input.truncate(MOST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let from = self.below(input.len() + 1);
        let to = input.len().min(from + self.below(64));
        match self.below(6) {
            0 => drop(input.drain(from..to)),
            1 => {
                let byte = self.below(256) as u8;
                input.insert(from, byte);
            }
            2 => {
                let piece = input[from..to].repeat(1 + self.below(20));
                input.splice(from..from, piece);
            }
            3 => {
                let other = self.pick(seeds).cloned().unwrap_or_default();
                let start = self.below(other.len() + 1);
                let end = other.len().min(start + self.below(400));
                input.splice(from..to, other[start..end].iter().copied());
            }
            _ => {
                let token = self.pick(TOKENS).copied().unwrap_or_default();
                let times = if self.below(8) == 0 { self.below(600) } else { 1 };
                input.splice(from..from, token.repeat(times).into_bytes());
            }
        }
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Returns a number below `limit`; 0 for 0. Xorshift: fast, and good enough to spread over inputs.
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % limit.max(1) as u64) as usize
    }
}
