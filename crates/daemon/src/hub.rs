//! Downloads a model from the Hugging Face hub: the only code of this project that opens a connection, and only for a
//! source that begins with `hf:`.
//!
//! The one thing a newcomer gets wrong: nothing that the hub says is trusted until it is checked. Its listing pins a commit
//! and tells size and checksum of every file; names are vetted, the sum is bounded before the first byte is asked for, and a
//! file gets its name only when size and checksum hold. What is half done stays beside, so the next try goes on from there.

mod choice;
mod client;
mod endpoint;
mod environment;
mod error;
mod listing;
mod patience;
mod place;
mod spec;
mod transfer;
mod verify;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use casebook_encoder::PackError;
use casebook_index::Cancel;

pub(crate) use endpoint::Endpoint;
pub(crate) use environment::{Environment, Token};
pub(crate) use error::HubError;
pub(crate) use patience::{RealSleeper, Sleeper};
pub(crate) use place::KeptDownload;
pub(crate) use spec::HubSpec;

use choice::choose;
use client::Client;
use place::Place;
use transfer::Transfer;

/// The model card.
const CARD: &str = "README.md";
/// The sparse head as it is read, and as it is not.
const SPARSE: &str = "sparse_linear.safetensors";
const SPARSE_PICKLE: &str = "sparse_linear.pt";

/// Bytes of one model at most, unless told otherwise.
pub(crate) const MAX_BYTES: u64 = 8 << 30;

/// How a download is made.
pub(crate) struct HubOptions<'a> {
    /// Where the hub is.
    pub(crate) endpoint: Endpoint,
    /// What proves who asks; sent to the endpoint alone.
    pub(crate) token: Option<Token>,
    /// The weights that are meant, where a repository has several: a `.gguf` file by its name there.
    pub(crate) file: Option<String>,
    /// Bytes of all files together at most.
    pub(crate) max_bytes: u64,
    /// Longest wait for a connection.
    pub(crate) connect: Duration,
    /// Longest silence of a connection before it counts as lost.
    pub(crate) silence: Duration,
    /// A connection that brings next to nothing for so long counts as lost.
    pub(crate) slowness: Duration,
    /// Waits between tries.
    pub(crate) sleeper: &'a dyn Sleeper,
    /// A file on this machine that has this SHA-256, by what someone says: it is checked before it counts.
    pub(crate) known: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// Stops the download; what has come stays for the next try.
    pub(crate) cancel: &'a dyn Cancel,
}

impl<'a> HubOptions<'a> {
    /// Returns the options that a person at a terminal wants, with endpoint and token from the environment.
    ///
    /// # Errors
    /// When a variable names an endpoint or a token that cannot be used, or forbids the network.
    pub(crate) fn new(
        environment: &Environment,
        sleeper: &'a dyn Sleeper,
        cancel: &'a dyn Cancel,
    ) -> Result<Self, HubError> {
        let endpoint = environment.endpoint()?;
        Ok(Self {
            token: environment.token(&endpoint)?,
            endpoint,
            file: None,
            max_bytes: MAX_BYTES,
            connect: Duration::from_secs(20),
            silence: Duration::from_secs(30),
            slowness: Duration::from_secs(60),
            known: &|_| None,
            sleeper,
            cancel,
        })
    }
}

/// What is known of a model before its weights are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer<'a> {
    /// The full commit.
    pub(crate) revision: &'a str,
    /// The licence as the hub tells it.
    pub(crate) licence: Option<&'a str>,
    /// The start of `README.md`, where there is one.
    pub(crate) card: Option<&'a str>,
    /// Whether the weights are a `.gguf`, which may tell more.
    pub(crate) is_gguf: bool,
}

/// Refuses a model before its weights are asked for.
pub(crate) type Refuse<'a> = &'a mut dyn FnMut(Offer<'_>) -> Result<(), PackError>;

/// A model that has been downloaded and checked.
#[derive(Debug)]
pub(crate) struct FetchedModel {
    /// Folder with the files as the repository names them; a chosen `.gguf` lies at its top.
    pub(crate) dir: PathBuf,
    /// The full commit that the hub named.
    pub(crate) revision: String,
    /// The licence as the repository declares it, like `mit` or `apache-2.0`; several are joined with ` AND `.
    pub(crate) licence: Option<String>,
    /// `hf:owner/name`.
    pub(crate) source: String,
    /// Whether the repository has a sparse head that is a pickle, and so is not here.
    pub(crate) lacks_sparse_head: bool,
    place: Place,
}

impl FetchedModel {
    /// Removes the download, once its files have been imported.
    ///
    /// # Errors
    /// When the folder cannot be removed.
    pub(crate) fn discard(self) -> Result<(), HubError> {
        self.place.remove()
    }
}

/// What a download is at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HubStep<'a> {
    /// Asking for the list of files.
    Asking,
    /// Bytes of a file have come.
    Receiving {
        /// The file.
        file: &'a str,
        /// What is here of it.
        done: u64,
        /// Its size.
        total: u64,
        /// What is here of all files.
        all_done: u64,
        /// The size of all files.
        all_total: u64,
    },
    /// A file is complete and its checksum is computed.
    Checking {
        /// The file.
        file: &'a str,
    },
    /// Something went wrong that may pass.
    Waiting {
        /// How long.
        pause: Duration,
        /// What went wrong.
        why: &'a HubError,
    },
}

/// Who is told how a download goes.
pub(crate) trait HubProgress {
    /// Called often: keep it cheap.
    fn step(&mut self, step: HubStep<'_>);
}

/// Downloads the files of a model that a pack is made from into a folder of their own below `into`, and checks each.
/// What an interrupted call left is used. `refuse` is asked once the card is here and before anything else is downloaded.
///
/// # Errors
/// When the model cannot be had, cannot be a pack, or is not what the hub said; [`HubError::code`] tells which.
pub(crate) fn fetch(
    spec: &HubSpec,
    into: &Path,
    options: &HubOptions<'_>,
    refuse: Refuse<'_>,
    progress: &mut dyn HubProgress,
) -> Result<FetchedModel, HubError> {
    let client = Client::new(options)?;
    let listing = listing::ask(&client, spec, options, progress)?;
    let wanted = choose(&listing.files, options.file.as_deref())?;
    let total = wanted
        .iter()
        .try_fold(0_u64, |sum, file| sum.checked_add(file.size))
        .unwrap_or(u64::MAX);
    if total > options.max_bytes {
        return Err(HubError::TooLarge {
            bytes: total,
            limit: options.max_bytes,
        });
    }
    let place = Place::open(into, spec, &listing.commit)?;
    place.keep_only(&wanted)?;
    let mut transfer = Transfer {
        client: &client,
        spec,
        commit: &listing.commit,
        place: &place,
        options,
        progress,
        all_done: 0,
        all_total: total,
    };
    // The card comes first: it may say that the rest is not wanted.
    let (cards, others): (Vec<_>, Vec<_>) = wanted.iter().partition(|file| file.name == CARD);
    for file in cards {
        transfer.bring(file)?;
    }
    let card = place.read_me()?;
    let offer = Offer {
        revision: &listing.commit,
        licence: listing.licence.as_deref(),
        card: card.as_deref(),
        is_gguf: wanted.iter().any(|file| file.name.ends_with(".gguf")),
    };
    if let Err(error) = refuse(offer) {
        // Nothing but the card has come by this call; what an earlier one brought is kept.
        if !place.has_more_than(CARD) {
            place.remove()?;
        }
        return Err(error.into());
    }
    for file in others {
        transfer.bring(file)?;
    }
    let listed = |name: &str| listing.files.iter().any(|file| file.name == name);
    let lacks_sparse_head = listed(SPARSE_PICKLE) && !listed(SPARSE);
    let licence = match listing.licence {
        Some(licence) => Some(licence),
        None => card.as_deref().and_then(listing::licence_of_read_me),
    };
    Ok(FetchedModel {
        dir: place.files(),
        revision: listing.commit,
        licence,
        source: spec.source(),
        lacks_sparse_head,
        place,
    })
}

/// Returns the downloads below `into` that wait for their import, or to go on.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn kept(into: &Path) -> Result<Vec<KeptDownload>, HubError> {
    Place::list(into)
}

/// Removes a download that waits.
///
/// # Errors
/// When another process is at it, or it cannot be removed.
pub(crate) fn discard(into: &Path, kept: &KeptDownload) -> Result<(), HubError> {
    Place::of(into, kept)?.remove()
}
