//! Builds and searches an index with an encoder of one's own, which tells Chinese from English.

use casebook_corpus::{RecordSource, Resource, SourceDecl, Timestamp};
use casebook_index::{BuildRequest, Cancel, EncodeError, EncoderRevision, Index, Passage, PassageVector, TextEncoder};

struct Script(EncoderRevision);
impl TextEncoder for Script {
    fn revision(&self) -> &EncoderRevision {
        &self.0
    }
    fn dimension(&self) -> usize {
        2
    }
    fn max_input_tokens(&self) -> usize {
        usize::MAX
    }
    fn encode_query(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        let angle = text.bytes().filter(u8::is_ascii).count() as f32 / text.len().max(1) as f32;
        Ok(vec![angle.cos(), angle.sin()])
    }
    fn encode_passages(&self, passages: &[Passage<'_>], stop: &dyn Cancel) -> Result<Vec<PassageVector>, EncodeError> {
        if stop.cancelled() {
            return Err(EncodeError::Cancelled);
        }
        let whole = |vector, input_windows| PassageVector { vector, input_windows };
        let encode = |passage: &Passage<'_>| Ok(whole(self.encode_query(passage.text)?, 1));
        passages.iter().map(encode).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, clock, encoder) = (tempfile::tempdir()?, Timestamp::from_unix_millis(0), Script("1".into()));
    let source = RecordSource::new(vec![Resource::from_markdown("a.md", "重建", &SourceDecl::default())?]);
    let index = Index::open(folder.path())?;
    index.build(&BuildRequest::new(&source, Some(&encoder), &clock))?;
    let snapshot = index.snapshot()?.ok_or("nothing was built")?;
    let dense = snapshot.dense().ok_or("no vectors")?;
    assert!(dense.search(&encoder.encode_query("谁")?, 1)?.hits[0].score > 0.99);
    Ok(())
}
