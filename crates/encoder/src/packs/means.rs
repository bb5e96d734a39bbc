//! Mean vectors of languages: what a pack's vectors of one language have in common and must lose before vectors of two
//! languages can be compared.

use std::collections::BTreeMap;
use std::path::Path;

use super::files::{self, Meter};
use super::{ImportStage, PackError, PackFile, PackManifest, PackTask};

/// Their file in a pack.
pub(crate) const MEANS: &str = "means.json";

/// A vector for each language.
pub type Means = BTreeMap<String, Vec<f32>>;

/// Runs a pack that is finished but for its means, and returns them; gets its folder and its manifest. None at all: the
/// pack has none. Those of a pack that brought its own, or has no use for any, are not taken.
pub type TryPack<'a> = &'a mut dyn FnMut(&Path, &PackManifest) -> Result<Means, PackError>;

/// Has a staged pack run, and gives it its means, unless it brought them or has no use for them.
pub(crate) fn complete(stage: &Path, manifest: &mut PackManifest, try_pack: TryPack<'_>) -> Result<(), PackError> {
    let means = try_pack(stage, manifest)?;
    if means.is_empty() || manifest.means || manifest.task != PackTask::Embed {
        return Ok(());
    }
    let fits = |mean: &Vec<f32>| mean.len() == manifest.dimension && mean.iter().all(|number| number.is_finite());
    if let Some((language, _)) = means.iter().find(|(_, mean)| !fits(mean)) {
        return Err(PackError::Trial {
            source: format!("the mean of {language} is no vector of {} numbers", manifest.dimension).into(),
        });
    }
    let path = stage.join(MEANS);
    files::write(&path, &serde_json::to_vec(&means).expect("numbers can be written"))?;
    let mut silent = |_| {};
    let (bytes, sha256) = files::digest(&path, &mut Meter::new(ImportStage::Hashing, 0, &mut silent))?;
    manifest.means = true;
    manifest.files.push(PackFile {
        name: MEANS.to_owned(),
        bytes,
        sha256,
    });
    manifest.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(())
}
