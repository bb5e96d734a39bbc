//! One file comes: from where it stopped, in the bytes that were asked for, until it is what the listing says.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use super::choice::WantedFile;
use super::client::{Answer, Client, Trouble};
use super::endpoint::encode_path;
use super::patience::{Patience, stop_if_asked};
use super::place::Place;
use super::verify::{Checksum, difference};
use super::{HubError, HubOptions, HubProgress, HubSpec, HubStep};

/// A connection that brought so much was worth it: the next failure counts as the first.
const WORTH: u64 = 1 << 20;

/// The download of one model's files.
pub(super) struct Transfer<'a> {
    pub(super) client: &'a Client<'a>,
    pub(super) spec: &'a HubSpec,
    pub(super) commit: &'a str,
    pub(super) place: &'a Place,
    pub(super) options: &'a HubOptions<'a>,
    pub(super) progress: &'a mut dyn HubProgress,
    /// Bytes of the files before this one.
    pub(super) all_done: u64,
    pub(super) all_total: u64,
}

/// Why a part is not whole.
enum Setback {
    /// See [`Trouble::Fatal`].
    Fatal(HubError),
    /// See [`Trouble::Passing`].
    Passing { error: HubError, wait: Option<Duration> },
    /// What came is of no use; a new start may help, once.
    Useless(HubError),
}

impl From<Trouble> for Setback {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Fatal(error) => Self::Fatal(error),
            Trouble::Passing { error, wait } => Self::Passing { error, wait },
        }
    }
}

impl From<HubError> for Setback {
    fn from(error: HubError) -> Self {
        Self::Fatal(error)
    }
}

impl Transfer<'_> {
    /// Brings a file to its place, unless it is there already.
    pub(super) fn bring(&mut self, file: &WantedFile) -> Result<(), HubError> {
        if !self.is_here(file)? && !self.is_elsewhere(file)? {
            self.download(file)?;
        }
        self.all_done += file.size;
        self.tell(file, 0, file.size);
        Ok(())
    }

    /// Returns whether an earlier call has brought it and nothing happened to it since.
    fn is_here(&mut self, file: &WantedFile) -> Result<bool, HubError> {
        let path = self.place.file(file);
        if !path.is_file() {
            return Ok(false);
        }
        self.progress.step(HubStep::Checking { file: &file.name });
        Ok(difference(&path, file.size, &file.checksum, self.options)?.is_none())
    }

    /// Copies a file that a pack of this machine has; returns whether there was one and it is what the hub lists.
    fn is_elsewhere(&mut self, file: &WantedFile) -> Result<bool, HubError> {
        let Checksum::Sha256(sum) = &file.checksum else {
            return Ok(false);
        };
        let Some(known) = (self.options.known)(sum).filter(|known| known.is_file()) else {
            return Ok(false);
        };
        let part = self.place.part(file);
        self.place.discard(file)?;
        if std::fs::copy(&known, &part).is_err() || self.differs(file)?.is_some() {
            self.place.discard(file)?;
            return Ok(false);
        }
        self.place.publish(file)?;
        Ok(true)
    }

    fn download(&mut self, file: &WantedFile) -> Result<(), HubError> {
        let mut patience = Patience::default();
        let mut discarded = false;
        let mut reached = 0;
        loop {
            stop_if_asked(self.options)?;
            let useless = match self.go_on(file) {
                Ok(()) => match self.differs(file)? {
                    None => return self.place.publish(file),
                    Some(error) => error,
                },
                Err(Setback::Fatal(error)) => return Err(error),
                Err(Setback::Passing { error, wait }) => {
                    let here = self.place.open_part(file)?;
                    let here = here.metadata().map_err(HubError::disk(&self.place.part(file)))?.len();
                    if here >= reached + WORTH {
                        reached = here;
                        patience.renew();
                    }
                    patience.pause(error, wait, self.options, self.progress)?;
                    continue;
                }
                Err(Setback::Useless(error)) => error,
            };
            self.place.discard(file)?;
            if discarded {
                return Err(useless);
            }
            discarded = true;
        }
    }

    fn differs(&mut self, file: &WantedFile) -> Result<Option<HubError>, HubError> {
        self.progress.step(HubStep::Checking { file: &file.name });
        let why = difference(&self.place.part(file), file.size, &file.checksum, self.options)?;
        Ok(why.map(|why| HubError::Differs {
            file: file.name.clone(),
            why,
        }))
    }

    /// Asks for what is missing of a part, and writes what comes.
    fn go_on(&mut self, file: &WantedFile) -> Result<(), Setback> {
        let path = self.place.part(file);
        let mut part = self.place.open_part(file)?;
        let here = part.metadata().map_err(HubError::disk(&path))?.len();
        if here == file.size && here > 0 {
            return Ok(());
        }
        let tag = self.place.tag(file);
        // A part of an unknown version must be found out in the end, else it is not continued.
        let can_continue = tag.is_some() || matches!(file.checksum, Checksum::Sha256(_));
        let from = if here < file.size && can_continue { here } else { 0 };
        let mut answer = self.request(file, from, tag.as_deref().filter(|_| from > 0))?;
        let from = check_answer(&answer, file, from, tag.as_deref())?;
        part.set_len(from).map_err(HubError::disk(&path))?;
        part.seek(SeekFrom::End(0)).map_err(HubError::disk(&path))?;
        if from == 0 {
            self.place.set_tag(file, answer.header("etag"))?;
        }
        self.receive(file, &mut answer, &mut part, from)?;
        part.sync_all().map_err(HubError::disk(&path))?;
        Ok(())
    }

    fn request(&self, file: &WantedFile, from: u64, tag: Option<&str>) -> Result<Answer, Trouble> {
        let path = format!(
            "/{}/resolve/{}/{}",
            self.spec.repository(),
            self.commit,
            encode_path(&file.name)
        );
        let range = format!("bytes={from}-");
        let mut headers = Vec::new();
        if from > 0 {
            headers.push(("range", range.as_str()));
            headers.extend(tag.map(|tag| ("if-range", tag)));
        }
        let answered = self.client.get(self.spec, &path, &headers);
        answered.map_err(|trouble| match trouble {
            // The listing named the model and this file of it.
            Trouble::Fatal(HubError::NotFound { .. }) => Trouble::Fatal(HubError::Transfer {
                host: self.client.host().to_owned(),
                file: file.name.clone(),
                why: "it lists the file and does not have it; try again later, or name another revision".to_owned(),
            }),
            other => other,
        })
    }

    fn receive(&mut self, file: &WantedFile, answer: &mut Answer, part: &mut File, from: u64) -> Result<(), Setback> {
        let path = self.place.part(file);
        let mut buffer = vec![0; 64 << 10];
        let mut done = from;
        self.tell(file, done, 0);
        loop {
            stop_if_asked(self.options)?;
            let read = answer.read(&mut buffer);
            let read = match read {
                Ok(0) => break,
                Ok(read) => read,
                // All is here; how the connection ends is of no interest.
                Err(_) if done == file.size => break,
                Err(error) => return Err(answer.lost(error).into()),
            };
            if done + read as u64 > file.size {
                let why = format!("it sends more than the {} bytes that the hub lists", file.size);
                return Err(Setback::Useless(broken(answer, file, why)));
            }
            part.write_all(&buffer[..read]).map_err(HubError::disk(&path))?;
            done += read as u64;
            self.tell(file, done, 0);
        }
        if done < file.size {
            let why = format!("it ends after {done} of {} bytes", file.size);
            return Err(Setback::Passing {
                error: broken(answer, file, why),
                wait: None,
            });
        }
        Ok(())
    }

    /// Tells how far a file is; `counted` of it is part of the sum already.
    fn tell(&mut self, file: &WantedFile, done: u64, counted: u64) {
        self.progress.step(HubStep::Receiving {
            file: &file.name,
            done: done + counted,
            total: file.size,
            all_done: self.all_done + done,
            all_total: self.all_total,
        });
    }
}

/// Returns where the bytes of an answer belong: `from` where the server goes on, 0 where it starts over.
fn check_answer(answer: &Answer, file: &WantedFile, from: u64, tag: Option<&str>) -> Result<u64, Setback> {
    let useless = |why: String| Setback::Useless(broken(answer, file, why));
    if answer.header("content-encoding").is_some_and(|how| how != "identity") {
        return Err(useless("it packs the file, which was not asked for".to_owned()));
    }
    let start = match answer.status {
        206 if from == 0 => return Err(useless("it sends a part that was not asked for".to_owned())),
        206 => {
            let range = answer.header("content-range").unwrap_or_default();
            if range != format!("bytes {from}-{}/{}", file.size - 1, file.size) {
                return Err(useless(format!("asked for bytes {from} to the end it sends {range:?}")));
            }
            if answer.header("etag").zip(tag).is_some_and(|(now, then)| now != then) {
                return Err(useless("it sends another version than before".to_owned()));
            }
            from
        }
        416 => return Err(useless("it has no such bytes".to_owned())),
        _ => 0,
    };
    match answer.length() {
        Some(length) if length != file.size - start => Err(useless(format!(
            "it tells {length} bytes where the hub lists {}",
            file.size - start
        ))),
        _ => Ok(start),
    }
}

fn broken(answer: &Answer, file: &WantedFile, why: String) -> HubError {
    HubError::Transfer {
        host: answer.host.clone(),
        file: file.name.clone(),
        why,
    }
}
