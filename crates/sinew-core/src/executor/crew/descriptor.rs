//! An executor's own file descriptor: for a program with a thread that waits in the event loop of
//! another library (epoll, tokio, a user interface), and spins the executor when the descriptor
//! becomes readable.

use crate::sys::clock::{Time, TimerFd};
use crate::sys::logging::{Level, log_line};
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::{Errno, read, write};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Readable while there is work, or a timer is due.
///
/// It is an epoll descriptor with two others in it, so that one `poll` by any thread sees both, and
/// neither the publishing thread nor another one has to wait for timers. Its owner keeps it up to
/// date: [`ready`](Self::ready) when work comes, [`arm`](Self::arm) when the first timer changes,
/// [`clear`](Self::clear) *before* looking for work (afterwards, it would lose work that came in
/// between). Any thread may call these; they take one or two system calls.
#[derive(Debug)]
pub(crate) struct Descriptor {
    /// The descriptor for the event loop.
    both: OwnedFd,
    /// An eventfd, readable while there is work.
    work: OwnedFd,
    alarm: TimerFd,
}

impl Descriptor {
    /// Creates a descriptor that isn't readable.
    pub(crate) fn new() -> io::Result<Self> {
        let both = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let work = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let alarm = TimerFd::new()?;
        let data = epoll::EventData::new_u64(0); // no reader asks which of them it is
        epoll::add(&both, &work, data, epoll::EventFlags::IN)?;
        epoll::add(&both, &alarm, data, epoll::EventFlags::IN)?;
        Ok(Self { both, work, alarm })
    }

    /// Makes the descriptor readable, because there is work.
    pub(crate) fn ready(&self) {
        match write(&self.work, &1_u64.to_ne_bytes()) {
            // It is already readable: this is the 2^64th time.
            Ok(_) | Err(Errno::AGAIN) => {}
            Err(error) => {
                log_line!(Level::Error, "an executor's descriptor could not be made readable: {error}")
            }
        }
    }

    /// Sets the due time of the first timer, at which the descriptor becomes readable: at once if
    /// that is past. `None` for no timer.
    pub(crate) fn arm(&self, due: Option<Time>) {
        if let Err(error) = self.alarm.set(due) {
            log_line!(Level::Error, "an executor's descriptor could not be set to {due:?}: {error}");
        }
    }

    /// Makes the descriptor no longer readable, because a thread is about to look for work. Forgets
    /// a timer that was due; a later one stays armed.
    pub(crate) fn clear(&self) {
        let mut count = [0; 8];
        // An error means that there is nothing to read, so it isn't readable, as intended.
        let _ = read(&self.work, &mut count);
        let _ = read(&self.alarm, &mut count);
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.both.as_fd()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::time::Duration;

    /// Whether it is readable, or becomes so within that time.
    fn is_readable(descriptor: &Descriptor, within: Duration) -> bool {
        let timeout = Timespec::try_from(within).expect("an hour at most");
        poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&timeout)) == Ok(1)
    }

    fn is_readable_now(descriptor: &Descriptor) -> bool {
        is_readable(descriptor, Duration::ZERO)
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn it_is_readable_from_when_there_is_work_until_it_is_looked_at() {
        let descriptor = Descriptor::new().unwrap();
        assert!(!is_readable_now(&descriptor));
        descriptor.ready();
        descriptor.ready();
        assert!(is_readable_now(&descriptor));
        assert!(is_readable_now(&descriptor), "looking at it changes nothing");
        descriptor.clear();
        assert!(!is_readable_now(&descriptor));
        descriptor.clear();
        assert!(!is_readable_now(&descriptor));
        descriptor.ready();
        assert!(is_readable_now(&descriptor));
    }

    #[test]
    fn it_is_readable_when_a_timer_is_due() {
        let descriptor = Descriptor::new().unwrap();
        descriptor.arm(Some(Time::steady() + HOUR));
        assert!(!is_readable_now(&descriptor));
        descriptor.arm(Some(Time::steady() + Duration::from_millis(1)));
        assert!(is_readable(&descriptor, HOUR));
        descriptor.clear();
        assert!(!is_readable_now(&descriptor));
        for past in [Time::steady(), Time::from_nanoseconds(0), Time::from_nanoseconds(-7)] {
            descriptor.arm(Some(past));
            assert!(is_readable_now(&descriptor), "{past:?}");
        }
        descriptor.arm(None);
        assert!(!is_readable_now(&descriptor), "there is no timer any more");
        descriptor.arm(Some(Time::from_nanoseconds(i64::MAX)));
        assert!(!is_readable_now(&descriptor));
    }

    #[test]
    fn work_and_timers_keep_apart() {
        let descriptor = Descriptor::new().unwrap();
        descriptor.ready();
        descriptor.arm(Some(Time::steady() + HOUR));
        descriptor.arm(None);
        assert!(is_readable_now(&descriptor), "the work is still there");
        loop {
            let due = Time::steady() + Duration::from_millis(5);
            descriptor.arm(Some(due));
            descriptor.clear();
            if Time::steady() < due {
                break; // cleared before it was due; otherwise this machine paused: again
            }
        }
        assert!(is_readable(&descriptor, HOUR), "the timer is still armed");
    }

    #[test]
    fn a_thread_that_waits_for_it_sees_it() {
        let descriptor = Descriptor::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| descriptor.ready());
            assert!(is_readable(&descriptor, HOUR));
        });
    }
}
