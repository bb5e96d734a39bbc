//! Cuts a resource into units.
//!
//! The one thing a newcomer gets wrong: tokens are counted once, over the whole body; from there on sections, parts
//! and windows are ranges of token numbers, and only [`Cutter::emit`] turns one into bytes.

use std::ops::Range;
use std::sync::Arc;

use casebook_corpus::{ContentHash, Resource};

use crate::key::{Place, resource_piece, unit_key};
use crate::lines::{LineCursor, line_breaks};
use crate::outline::{Section, block_starts, sections};
use crate::strategy::{Grain, Plan};
use crate::{CasebookTokens, Locator, Strategy, TokenCounter, Unit, UnitKind};

/// Cuts resources into units. The same resource gives the same units; nothing else is looked at.
#[derive(Clone, Debug)]
pub struct Chunker {
    strategy: Strategy,
    counter: Arc<dyn TokenCounter>,
    revision: String,
}

impl Default for Chunker {
    /// Returns the chunker of `heading-384`.
    fn default() -> Self {
        Self::new(Strategy::default())
    }
}

impl Chunker {
    /// Returns a chunker that counts with [`CasebookTokens`].
    pub fn new(strategy: Strategy) -> Self {
        Self::with_counter(strategy, Arc::new(CasebookTokens))
    }

    /// Returns a chunker with a counter of the caller's.
    pub fn with_counter(strategy: Strategy, counter: Arc<dyn TokenCounter>) -> Self {
        let revision = format!("{strategy}.{}+{}", strategy.version(), counter.revision());
        Self {
            strategy,
            counter,
            revision,
        }
    }

    /// Returns strategy, its version and the counter's revision, like `heading-384.1+cb-tokens.1`. Two chunkers of one
    /// revision cut alike.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Cuts the resource: the description first, then the body's units in order of their start.
    ///
    /// A blank description or body gives no unit.
    pub fn chunk(&self, resource: &Resource) -> Vec<Unit> {
        let mut cutter = Cutter {
            plan: self.strategy.plan(),
            key_prefix: resource_piece(resource.meta.id.as_str()),
            tokens: self.counter.token_spans(&resource.body),
            lines: LineCursor::new(&resource.body, resource.meta.body_span.first_line),
            resource,
            units: Vec::new(),
        };
        cutter.cut_description(self.counter.as_ref());
        cutter.cut_body();
        cutter.units
    }
}

/// One resource being cut.
struct Cutter<'a> {
    plan: Plan,
    resource: &'a Resource,
    key_prefix: String,
    /// Byte ranges of the body's tokens.
    tokens: Vec<Range<usize>>,
    lines: LineCursor<'a>,
    units: Vec<Unit>,
}

impl Cutter<'_> {
    fn cut_description(&mut self, counter: &dyn TokenCounter) {
        let meta = &self.resource.meta;
        if meta.description.trim().is_empty() {
            return;
        }
        let span = meta.body_span;
        self.units.push(Unit {
            unit_key: unit_key(&self.key_prefix, &Place::Description, 1),
            resource_id: meta.id.clone(),
            kind: UnitKind::Description,
            heading_path: Vec::new(),
            locator: Locator {
                bytes: 0..span.byte_offset,
                first_line: span.first_line.min(1),
                // The body may start on the only line there is.
                last_line: span.first_line.saturating_sub(1).max(span.first_line.min(1)),
            },
            text: meta.description.clone(),
            token_count: counter.token_spans(&meta.description).len(),
            content_hash: ContentHash::of(&meta.description),
        });
    }

    fn cut_body(&mut self) {
        let body = self.resource.body.as_str();
        if self.tokens.len() <= self.plan.pack {
            let root = Section {
                place: Place::Root,
                ..Section::unheaded(Vec::new())
            };
            self.emit(UnitKind::Root, &root, &mut 0, 0..self.tokens.len());
            return;
        }
        let sections = match self.plan.grain {
            Grain::Headings => sections(body),
            Grain::Blocks => vec![Section::unheaded(block_starts(body))],
            Grain::Bytes => vec![Section::unheaded(vec![0])],
        };
        let mut ends = sections.iter().skip(1).map(|section| section.block_starts[0]);
        for section in &sections {
            self.cut_section(section, ends.next().unwrap_or(body.len()));
        }
    }

    /// Cuts a section that ends at the byte `end`.
    fn cut_section(&mut self, section: &Section, end: usize) {
        let ends = section.block_starts.iter().skip(1).copied().chain([end]);
        let blocks = section.block_starts.iter().zip(ends);
        let blocks: Vec<Range<usize>> = blocks
            .map(|(&start, end)| self.token_at(start)..self.token_at(end))
            .collect();
        let whole = self.token_at(section.block_starts[0])..self.token_at(end);
        let mut part = 0;
        if whole.len() <= self.plan.whole {
            self.emit(UnitKind::Section, section, &mut part, whole);
            return;
        }
        let mut packed = whole.start..whole.start;
        for block in blocks {
            if block.end - packed.start > self.plan.pack {
                self.emit(UnitKind::Section, section, &mut part, packed.clone());
                packed.start = block.start;
            }
            packed.end = block.end;
            if packed.len() > self.plan.pack {
                self.cut_block(section, &mut part, block);
                packed.start = packed.end;
            }
        }
        self.emit(UnitKind::Section, section, &mut part, packed);
    }

    /// Cuts a block that is too long to be packed with others.
    fn cut_block(&mut self, section: &Section, part: &mut usize, block: Range<usize>) {
        if block.len() <= self.plan.whole {
            self.emit(UnitKind::Section, section, part, block);
            return;
        }
        let mut start = block.start;
        loop {
            let end = block.end.min(start + self.plan.pack);
            self.emit(UnitKind::Window, section, part, start..end);
            if end == block.end {
                return;
            }
            start = end - self.plan.overlap;
        }
    }

    /// Returns the number of the first token at or after the byte.
    fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| token.start < byte)
    }

    /// Adds a unit of these tokens as the section's next part; none where there are no tokens.
    fn emit(&mut self, kind: UnitKind, section: &Section, part: &mut usize, tokens: Range<usize>) {
        if tokens.is_empty() {
            return;
        }
        *part += 1;
        let bytes = self.bytes_of(&tokens);
        let text = self.resource.body[bytes.clone()].to_owned();
        let span = self.resource.meta.body_span;
        let first_line = self.lines.line_of(bytes.start);
        let in_file = span.first_line > 0;
        self.units.push(Unit {
            unit_key: unit_key(&self.key_prefix, &section.place, *part),
            resource_id: self.resource.meta.id.clone(),
            kind,
            heading_path: section.heading_path.clone(),
            locator: Locator {
                bytes: span.byte_offset + bytes.start..span.byte_offset + bytes.end,
                first_line: if in_file { first_line } else { 0 },
                last_line: if in_file { first_line + line_breaks(&text) } else { 0 },
            },
            token_count: tokens.len(),
            content_hash: ContentHash::of(&text),
            text,
        });
    }

    /// Returns the bytes from the first token to the end of the last, with the indent where the first opens its line.
    fn bytes_of(&self, tokens: &Range<usize>) -> Range<usize> {
        let body = &self.resource.body;
        let start = self.tokens[tokens.start].start;
        let before = tokens.start.checked_sub(1).map_or(0, |last| self.tokens[last].end);
        let blank = &body[before..start];
        let line = blank.rfind(['\n', '\r']).map(|found| before + found + 1);
        let start = line.unwrap_or(if tokens.start == 0 { 0 } else { start });
        start..self.tokens[tokens.end - 1].end
    }
}
