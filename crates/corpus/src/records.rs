//! Resources that are already in memory, as a source.

use std::collections::BTreeMap;

use crate::{Clock, Found, KnownItems, KnownState, MemorySource, Resource, Scan, ScanItem, SourceError, Stamp};

/// A [`MemorySource`] over resources that the caller holds. The location of each is its id.
#[derive(Clone, Debug, Default)]
pub struct RecordSource {
    records: BTreeMap<String, Resource>,
}

impl RecordSource {
    /// Takes the resources and computes their content hashes. Of two with one id the later replaces the earlier.
    pub fn new(resources: Vec<Resource>) -> Self {
        let records = resources.into_iter().map(|mut resource| {
            resource.meta.content_hash = resource.canonical_hash();
            (resource.meta.id.as_str().to_owned(), resource)
        });
        Self {
            records: records.collect(),
        }
    }
}

impl MemorySource for RecordSource {
    fn scan(
        &self,
        known: &dyn KnownItems,
        _clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError> {
        let mut scan = Scan::default();
        for (location, record) in &self.records {
            let unchanged = matches!(
                known.get(location).map(|item| item.state),
                Some(KnownState::Resource { id, content_hash })
                    if id == record.meta.id && content_hash == record.meta.content_hash
            );
            if !unchanged {
                scan.bytes_read += record.body.len() as u64;
            }
            scan.items.push(ScanItem {
                location: location.clone(),
                rank: 0,
                // What is held in memory has no outside but its content.
                stamp: Some(Stamp::new(record.meta.content_hash.words())),
                found: if unchanged {
                    Found::Unchanged
                } else {
                    Found::Resource(Box::new(record.clone()))
                },
            });
            if !found(scan.items.len()) {
                return Err(SourceError::Stopped);
            }
        }
        Ok(scan)
    }
}
