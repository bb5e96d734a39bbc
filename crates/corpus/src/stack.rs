//! Sources on top of each other, as one.

use crate::{Clock, KnownItems, MemorySource, Scan, SourceError};

/// A [`MemorySource`] over several, the lowest first. Their locations must differ; of two items with one id the upper
/// wins.
pub struct Stack<'a> {
    layers: Vec<&'a dyn MemorySource>,
}

impl<'a> Stack<'a> {
    /// Puts the sources on top of each other, the lowest first.
    pub fn new(layers: Vec<&'a dyn MemorySource>) -> Self {
        Self { layers }
    }
}

impl MemorySource for Stack<'_> {
    fn ranks(&self) -> u32 {
        self.layers.iter().map(|layer| layer.ranks()).sum()
    }

    fn scan(
        &self,
        known: &dyn KnownItems,
        clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError> {
        let mut all = Scan::default();
        let mut below = 0;
        for layer in &self.layers {
            let before = all.items.len();
            let mut scan = layer.scan(known, clock, &|count| found(before + count))?;
            for item in &mut scan.items {
                item.rank += below;
            }
            below += layer.ranks();
            all.items.append(&mut scan.items);
            all.degradations.append(&mut scan.degradations);
            all.bytes_read += scan.bytes_read;
        }
        all.items.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(all)
    }
}
