//! The structure of a body: sections, and in each the starts of its top-level blocks.
//!
//! The one thing a newcomer gets wrong: blocks are cut at line starts, from one block's first line to the next one's,
//! so together they hold every byte. What the parser reports no event for (link definitions) is a block too.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use crate::key::{Place, heading_piece};
use crate::lines::line_start;

/// A heading in a heading path is cut here, so that a body of one long heading over many short ones stays linear.
const HEADING_LIMIT: usize = 256;

/// A span of the body with one identity.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) place: Place,
    /// Texts of the headings above it, outermost first.
    pub(crate) heading_path: Vec<String>,
    /// Byte offsets in the body; the first block starts where the section does. A heading is one block with what
    /// follows it. Never empty.
    pub(crate) block_starts: Vec<usize>,
}

impl Section {
    /// The section of a body that is seen without headings.
    pub(crate) fn unheaded(block_starts: Vec<usize>) -> Self {
        Self {
            place: Place::Body,
            heading_path: Vec::new(),
            block_starts,
        }
    }
}

/// A top-level block: from the start of its first line to that of the next block's.
#[derive(Debug)]
struct Block {
    start: usize,
    heading: Option<(HeadingLevel, Range<usize>)>,
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH
}

/// Returns the body's sections in order, each up to the next heading of any level.
pub(crate) fn sections(body: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut ancestors: Vec<(HeadingLevel, String, String)> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut heading_alone = false;
    for block in blocks(body) {
        if let Some((level, span)) = block.heading {
            let text = heading_text(&body[span]);
            ancestors.retain(|(above, ..)| *above < level);
            ancestors.push((level, heading_piece(&text), shortened(text)));
            let path = joined(ancestors.iter().map(|(_, piece, _)| piece.as_str()));
            let occurrence = seen.entry(path.clone()).or_default();
            *occurrence += 1;
            sections.push(Section {
                place: Place::Headings {
                    path,
                    occurrence: *occurrence,
                },
                heading_path: ancestors.iter().map(|(_, _, text)| text.clone()).collect(),
                block_starts: vec![block.start],
            });
            heading_alone = true;
        } else if let Some(section) = sections.last_mut() {
            if !heading_alone {
                section.block_starts.push(block.start);
            }
            heading_alone = false;
        } else {
            sections.push(Section::unheaded(vec![block.start]));
        }
    }
    sections
}

/// Returns where each top-level block starts.
pub(crate) fn block_starts(body: &str) -> Vec<usize> {
    blocks(body).into_iter().map(|block| block.start).collect()
}

fn blocks(body: &str) -> Vec<Block> {
    let mut blocks = Blocks {
        body,
        found: Vec::new(),
        end: 0,
    };
    let mut depth = 0_usize;
    for (event, span) in Parser::new_ext(body, options()).into_offset_iter() {
        let heading = match &event {
            Event::Start(Tag::Heading { level, .. }) => Some((*level, span.clone())),
            _ => None,
        };
        let opens = matches!(event, Event::Start(_));
        if depth == 0 && !matches!(event, Event::End(_)) {
            blocks.add(span, heading);
        }
        match event {
            _ if opens => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    blocks.add_rest();
    blocks.found
}

struct Blocks<'a> {
    body: &'a str,
    found: Vec<Block>,
    /// End of what the blocks found so far cover.
    end: usize,
}

impl Blocks<'_> {
    fn add(&mut self, span: Range<usize>, heading: Option<(HeadingLevel, Range<usize>)>) {
        self.add_gap(span.start);
        self.cut(span.start, heading);
        self.end = self.end.max(span.end);
    }

    fn add_rest(&mut self) {
        self.add_gap(self.body.len());
    }

    /// Makes a block of visible text that the parser passed over.
    fn add_gap(&mut self, until: usize) {
        let gap = self.body.get(self.end..until).unwrap_or_default();
        if let Some(visible) = gap.find(|char: char| !char.is_whitespace()) {
            self.cut(self.end + visible, None);
        }
    }

    fn cut(&mut self, at: usize, heading: Option<(HeadingLevel, Range<usize>)>) {
        let last = self.found.last().map(|block| block.start);
        let start = line_start(self.body, last.unwrap_or(0), at);
        if last.is_none_or(|last| last < start) {
            self.found.push(Block { start, heading });
        }
    }
}

/// Returns a heading's text without markup. Parsed on its own, so that it does not depend on link definitions elsewhere.
fn heading_text(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new_ext(markdown, options()) {
        match event {
            Event::Text(piece) | Event::Code(piece) => text.push_str(&piece),
            Event::FootnoteReference(_) | Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    joined_words(without_anchor(&text))
}

/// Takes off a trailing `{#anchor}`, which site generators read as the heading's link.
fn without_anchor(text: &str) -> &str {
    let text = text.trim_end();
    let anchored = text.strip_suffix('}').and_then(|rest| rest.rsplit_once('{'));
    match anchored {
        Some((before, anchor)) if anchor.trim().starts_with('#') && !anchor.trim().contains(char::is_whitespace) => {
            before
        }
        _ => text,
    }
}

fn joined_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

fn joined<'a>(pieces: impl Iterator<Item = &'a str>) -> String {
    pieces.collect::<Vec<_>>().join("/")
}

fn shortened(mut text: String) -> String {
    if text.len() > HEADING_LIMIT {
        text.truncate(text.floor_char_boundary(HEADING_LIMIT - '…'.len_utf8()));
        text.push('…');
    }
    text
}
