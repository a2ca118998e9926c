//! Waiting, from several threads.

use crate::{along_x, at, fix, insert};
use sinew::Duration;
use sinew_tf::{At, Buffer, LookupError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_future_is_woken_by_what_it_lacks_and_by_nothing_else() {
    let buffer = Buffer::new();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut pending = std::pin::pin!(buffer.wait_for("map", "base", at(20)));
    let mut poll = || pending.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(poll().is_pending());
    fix(&buffer, "map", "odom", 1.0);
    insert(&buffer, "odom", "base", 10, 1.0);
    insert(&buffer, "odom", "wheel", 30, 1.0);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    assert!(poll().is_pending());
    insert(&buffer, "odom", "base", 30, 3.0);
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    let Poll::Ready(found) = poll() else { panic!("it is there") };
    assert_eq!(found.unwrap().transform.translation[0], 3.0);
}

#[test]
fn who_waits_no_more_is_forgotten() {
    let buffer = Buffer::new();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    {
        let mut pending = std::pin::pin!(buffer.wait_for("map", "base", At::Latest));
        assert!(pending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    fix(&buffer, "map", "base", 1.0);
    assert_eq!((count.0.load(Ordering::Relaxed), Arc::strong_count(&count)), (0, 2));
}

#[test]
fn what_is_past_is_not_waited_for() {
    let buffer = Buffer::builder().history(Duration::from_nanos(100)).build();
    insert(&buffer, "map", "base", 1000, 0.0);
    insert(&buffer, "map", "base", 1050, 0.0);
    let error = buffer.wait_for("map", "base", at(900)).wait(PATIENCE).unwrap_err();
    assert!(matches!(error, LookupError::Extrapolation { .. }), "{error}");
    // The same if it happens during the wait.
    let waits = buffer.clone();
    let waiting = thread::spawn(move || waits.wait_for("map", "base", at(999)).wait(PATIENCE));
    insert(&buffer, "map", "base", 1200, 0.0);
    assert!(waiting.join().unwrap().is_err());
}

/// What lags may catch up, however far the others are ahead.
#[test]
fn the_latest_is_waited_for() {
    let buffer = Buffer::builder().history(Duration::from_nanos(100)).build();
    insert(&buffer, "map", "odom", 10, 1.0);
    insert(&buffer, "odom", "base", 1000, 1.0);
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut pending = std::pin::pin!(buffer.wait_for("map", "base", At::Latest));
    let mut poll = || pending.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(poll().is_pending());
    insert(&buffer, "odom", "base", 1010, 1.0);
    assert!(poll().is_pending() && count.0.load(Ordering::Relaxed) == 0);
    insert(&buffer, "map", "odom", 1005, 1.0);
    assert!(matches!(poll(), Poll::Ready(Ok(found)) if found.stamp == at(1005)));
}

/// At that time the cup was on the table: that the hand came later does not matter.
#[test]
fn what_an_earlier_parent_lacks_is_waited_for() {
    let buffer = Buffer::builder().history(Duration::from_nanos(100)).build();
    insert(&buffer, "map", "table", 12, 0.0);
    insert(&buffer, "table", "cup", 10, 0.0);
    insert(&buffer, "hand", "cup", 20, 0.0);
    insert(&buffer, "map", "hand", 500, 0.0);
    let mut pending = std::pin::pin!(buffer.wait_for("map", "cup", at(15)));
    let mut poll = || pending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    insert(&buffer, "map", "table", 16, 0.0);
    assert!(matches!(poll(), Poll::Ready(Ok(_))));
}

#[test]
fn a_time_out_tells_what_lacks_still() {
    let buffer = Buffer::new();
    insert(&buffer, "map", "base", 10, 0.0);
    let error = buffer.wait_for("map", "base", at(11)).wait(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error, LookupError::Extrapolation { .. }), "{error}");
}

/// Two threads fill the buffer, two read, and two wait for each stamp in turn: no thread waits for
/// ever, and each answer is correct.
#[test]
fn threads_fill_read_and_wait_at_once() {
    const STAMPS: i64 = 2000;
    let buffer = Buffer::new();
    fix(&buffer, "map", "odom", 1.0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let fill = |parent: &'static str, child: &'static str| {
            let buffer = &buffer;
            move || {
                for stamp in 1..=STAMPS {
                    buffer.insert(&along_x(parent, child, stamp, stamp as f64), "test").unwrap();
                }
            }
        };
        let wait = || {
            for stamp in (1..=STAMPS).step_by(7) {
                let found = buffer.wait_for("map", "lidar", at(stamp)).wait(PATIENCE).unwrap();
                assert_eq!(found.transform.translation[0], 1.0 + 2.0 * stamp as f64);
            }
        };
        let read = || {
            while !done.load(Ordering::Relaxed) {
                if let Ok(found) = buffer.lookup("map", "lidar", At::Latest) {
                    assert_eq!(found.transform.translation[0], 1.0 + 2.0 * found.stamp.nanoseconds() as f64);
                }
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        let others = [scope.spawn(wait), scope.spawn(wait)];
        let fillers = [scope.spawn(fill("odom", "base")), scope.spawn(fill("base", "lidar"))];
        for thread in others.into_iter().chain(fillers) {
            thread.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
