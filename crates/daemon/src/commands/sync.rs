//! `casebook sync`

mod push;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use casebook_api::wire::{
    SyncAbortResponse, SyncBeginResponse, SyncCommitResponse, SyncPageResponse, SyncStatusResponse,
};
use casebook_api::{Records, read_page};
use casebook_corpus::{MAX_PAGE_BYTES, RecordVersion, SyncId};
use serde::Serialize;

use crate::cli::{Common, SyncCommand};
use crate::clock::{SystemClock, new_id};
use crate::failure::Failure;
use crate::wire::Setup;
use crate::{output, render, settings};

pub(crate) fn run(common: &Common, command: &SyncCommand) -> Result<(), Failure> {
    let setup = Setup::new(common)?;
    let project = settings::project(setup.root.clone(), &setup.data_dir, &setup.layers)?;
    let records = Records::of(&project, Arc::new(SystemClock::new()));
    match command {
        SyncCommand::Begin { base, replace } => {
            let base = base.as_deref().map(RecordVersion::from);
            let begun = records.begin(base.as_ref(), &SyncId::new(new_id()), *replace)?;
            print(common, &SyncBeginResponse::from(&begun), render::sync_begun)
        }
        SyncCommand::Page { session, number, file } => {
            let page = read_page(&page_bytes(file)?)?;
            let staged = records.stage(&session.as_str().into(), *number, &page)?;
            print(common, &SyncPageResponse::new(session, &staged), render::sync_staged)
        }
        SyncCommand::Commit {
            session,
            pages,
            version,
        } => {
            let committed = records.commit(&session.as_str().into(), *pages, &version.as_str().into())?;
            print(common, &SyncCommitResponse::from(&committed), render::sync_committed)
        }
        SyncCommand::Status => {
            let status = SyncStatusResponse::from(&records.status()?);
            print(common, &status, render::sync_status)
        }
        SyncCommand::Abort { session } => {
            let pages_dropped = records.abort(&session.as_str().into())?;
            let response = SyncAbortResponse {
                session: session.clone(),
                pages_dropped,
            };
            print(common, &response, |response| {
                format!(
                    "Dropped, with {} staged pages. The records are as they were.",
                    response.pages_dropped
                )
            })
        }
        SyncCommand::Push(args) => {
            let pushed = push::push(&records, args)?;
            print(common, &pushed, render::sync_pushed)
        }
    }
}

fn print<T: Serialize>(common: &Common, response: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
    if common.json {
        output::json(response)
    } else {
        output::line(text(response))
    }
}

/// Reads a page, but no more than tells that it is too large.
fn page_bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_PAGE_BYTES as u64 + 1;
    let read = input(file)?.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(file, &error))?;
    Ok(bytes)
}

fn input(file: &Path) -> Result<Box<dyn Read>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let opened = std::fs::File::open(file).map_err(|error| unreadable(file, &error))?;
    Ok(Box::new(opened))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be read: {error}", file.display());
    Failure::input("sync_file_unreadable", message)
}
