//! `casebook index --watch`

use std::time::Duration;

use casebook_api::wire::WatchEvent;
use casebook_api::{Follower, Pace, Service};

use crate::cli::{Common, IndexArgs};
use crate::clock::SystemClock;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{self, Delivery};
use crate::progress::Progress;
use crate::render;

/// Keeps the index up to date until it is asked to end, or nobody reads what it tells.
pub(super) fn run(common: &Common, args: &IndexArgs, service: &Service) -> Result<(), Failure> {
    let mut watcher = service.watcher()?;
    let waker = watcher.waker();
    let stop = interrupt::install();
    interrupt::on_asked(move || waker.wake())?;
    let root = service.project().root.to_string_lossy().into_owned();
    let mut outcome = tell(common, &WatchEvent::Watching { root });
    if outcome.as_ref().is_ok_and(|delivery| *delivery == Delivery::Done) {
        // Only the first: afterwards nothing is held that could be wrong.
        let mut full = args.full;
        Follower {
            watch: &mut watcher,
            build: &mut || {
                let progress = Progress::new();
                let built = service.build(std::mem::take(&mut full), &progress);
                progress.finish();
                built
            },
            clock: &SystemClock::new(),
            pace: pace(args),
            stop,
            tell: &mut |told| {
                outcome = tell(common, &told.into());
                if !matches!(outcome, Ok(Delivery::Done)) {
                    stop.ask();
                }
            },
        }
        .run();
    }
    outcome.map(drop)
}

fn pace(args: &IndexArgs) -> Pace {
    let Some(every) = args.every.map(Duration::from_secs) else {
        return Pace::default();
    };
    Pace {
        reconcile: every,
        poll: every,
        ..Pace::default()
    }
}

fn tell(common: &Common, event: &WatchEvent) -> Result<Delivery, Failure> {
    if common.json {
        output::deliver(output::to_json(event, false)?)
    } else {
        output::deliver(render::watch_event(event))
    }
}
