//! The ways of messages that need no network.

use crate::suite::stage::{Path, Play, look};
use crate::suite::support::outside::Onlooker;
use crate::suite::support::{finishes, real_context, virtual_context};
use sinew::prelude::*;
use sinew::time::VirtualClock;
use std::cell::RefCell;
use std::path::PathBuf;

/// In one process, in one context.
pub(crate) struct Intra;

impl Path for Intra {
    fn is_apart(&self) -> bool {
        false
    }

    fn open(&self, clock: Option<&VirtualClock>) -> (Context, Context) {
        let context = clock.map_or_else(real_context, virtual_context);
        (context.clone(), context)
    }

    fn find_out(&self, _: &Node, _: &Node) {}
}

/// Between two contexts that meet in shared memory only, as two processes would.
pub(crate) struct Shm;

thread_local! {
    /// The directory of the scenario that this thread plays, and how many domains it has used
    /// there.
    static PLACE: RefCell<(PathBuf, u32)> = const { RefCell::new((PathBuf::new(), 0)) };
}

impl Path for Shm {
    fn is_apart(&self) -> bool {
        true
    }

    fn open(&self, clock: Option<&VirtualClock>) -> (Context, Context) {
        let (directory, domain) = PLACE.with_borrow_mut(|(directory, domains)| {
            *domains += 1;
            (directory.clone(), *domains)
        });
        let context = || {
            let context = Context::builder().domain(domain).directory(&directory);
            let context = if let Some(clock) = clock { context.virtual_time(clock) } else { context };
            context.build().expect("no arguments to get wrong")
        };
        (context(), context())
    }

    fn find_out(&self, sender: &Node, receiver: &Node) {
        look(sender, receiver);
    }

    fn onlooker(&self) -> Onlooker {
        PLACE.with_borrow(|(directory, domain)| Onlooker::join(directory, *domain))
    }

    fn play(&self, _: &str, scenario: Play) -> sinew::Result<()> {
        // Held here, where it is removed even if the scenario's thread never ends.
        let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
        let path = directory.path().to_owned();
        finishes(move || {
            PLACE.set((path, 0));
            scenario()
        })
    }
}
