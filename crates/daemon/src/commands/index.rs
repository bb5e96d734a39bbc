//! `casebook index`

mod watch;

use casebook_api::wire::IndexResponse;

use crate::cli::{Common, IndexArgs};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::render;
use crate::wire::Setup;

pub(crate) fn run(common: &Common, args: &IndexArgs) -> Result<(), Failure> {
    let service = Setup::new(common)?.service()?;
    if args.watch {
        return watch::run(common, args, &service);
    }
    let progress = Progress::new();
    let report = service.build(args.full, &progress);
    progress.finish();
    let response = IndexResponse::from(&report?);
    if common.json {
        output::json(&response)
    } else {
        output::line(render::index(&response))
    }
}
