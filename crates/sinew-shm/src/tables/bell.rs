//! Bells: words that a participant's threads sleep on, and that other participants ring.

use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{AtomicU32, Ordering};
use crate::platform::sys;
use crate::segment::header::Header;
use crate::tables::control_segment::Table;
use std::cell::RefCell;
use std::sync::Weak;
use std::time::Duration;

/// The bell on which a participant's blocked writers wait for their readers.
pub(crate) const SPACE_BELL: u64 = 0;

/// Number of a participant's bells: one for its writers, and one for each port.
pub(crate) const BELLS: usize = 1 + Table::Ports.capacity();

/// Size of a bells segment in bytes; each bell has its own cache line.
pub(crate) const BELLS_LENGTH: usize = (size_of::<Header>() + BELLS * 64).next_multiple_of(4096);

/// Offset of a bell in its segment.
pub(crate) fn bell_offset(index: usize) -> Option<usize> {
    (index < BELLS).then_some(size_of::<Header>() + index * 64)
}

/// A word that a thread sleeps on, and that any participant may ring.
#[derive(Clone)]
pub(crate) struct Bell(pub(crate) ShmRef<AtomicU32>);

impl Bell {
    /// K1
    #[inline]
    pub(crate) fn rung(&self) -> u32 {
        self.0.load(Ordering::Acquire) // K1: pairs with `ring`
    }

    /// Ends a sleep that began, or begins, with an older value.
    pub(crate) fn ring(&self) {
        self.0.fetch_add(1, Ordering::Release); // P3: pairs with K1
        failpoints::at(Point::BellChanged);
        sys::futex_wake(&self.0);
    }

    /// Sleeps while the bell's value is `seen`. May return early.
    pub(crate) fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        sleep_on(&self.0, seen, timeout);
    }
}

/// The longest time that a helper thread sleeps in other code before it checks its doorbell again.
const UNCHECKED: Duration = Duration::from_millis(1);

/// The doorbell that a helper thread still watches while it sleeps on a bell: the file that other
/// users touch to ring its participant's bells.
pub(crate) trait Doorbell {
    /// Rings the bells if the file was touched.
    fn check(&self);
}

thread_local! {
    /// The doorbell that this thread watches: only on a helper thread, and only if there are other
    /// users.
    static WATCHED: RefCell<Option<Weak<dyn Doorbell>>> = const { RefCell::new(None) };
}

/// Makes this thread watch that doorbell as long as it exists.
pub(crate) fn watch_while_asleep(doorbell: Weak<dyn Doorbell>) {
    WATCHED.set(Some(doorbell));
}

/// Sleeps on a bell as [`sys::futex_wait`] does. A helper thread, which other users ring by
/// touching a file, can't sleep on both: it keeps checking that file meanwhile, rings the bells of
/// all threads that it serves, and returns early to its own wait.
fn sleep_on(bell: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    // `None` in a thread that is ending.
    let watched = WATCHED.try_with(|watched| watched.borrow().as_ref()?.upgrade()).ok().flatten();
    let Some(doorbell) = watched else { return sys::futex_wait(bell, seen, timeout) };
    sys::futex_wait(bell, seen, Some(timeout.map_or(UNCHECKED, |timeout| timeout.min(UNCHECKED))));
    doorbell.check();
}
