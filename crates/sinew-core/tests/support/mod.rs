//! What the integration tests share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod outside;
pub(crate) mod pair;
pub(crate) mod small;
pub(crate) mod tasks;

use sinew::Executor;
use sinew::error::DecodeError;
use sinew::msg::{Encoding, TypeHash};
use sinew::prelude::*;
use sinew::service::ServiceType;
use sinew::time::VirtualClock;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

/// How long a test that would otherwise hang may take. No test that passes comes near it, however
/// busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A test can't do here what it is there for. It passes; the sentence is found, after a run of many
/// tests, in the file `$SINEW_SKIPPED`.
pub(crate) fn skip(why: &str) {
    println!("skipped: {why}");
    if let Some(path) = std::env::var_os("SINEW_SKIPPED") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let line = format!("{}\n", why.trim_end().replace('\n', " "));
        std::io::Write::write_all(&mut file.expect("a file"), line.as_bytes()).expect("there is room");
    }
}

/// A context in virtual time, one node in it, and an executor that serves both.
pub(crate) struct Room {
    pub(crate) clock: VirtualClock,
    pub(crate) context: Context,
    pub(crate) node: Node,
    pub(crate) executor: Executor,
}

impl Room {
    pub(crate) fn new() -> Self {
        let clock = VirtualClock::new();
        let context = virtual_context(&clock);
        let node = context.node("room").expect("a valid name");
        let executor = Executor::single();
        executor.add(&context).expect("nobody else serves it");
        Self { clock, context, node, executor }
    }

    /// Runs all there is to run now, also what becomes ready meanwhile; returns how many callbacks
    /// ran.
    pub(crate) fn run(&self) -> u64 {
        self.executor.spin_all(PATIENCE).expect("no callback fails")
    }

    /// Lets virtual time pass.
    pub(crate) fn advance(&self, milliseconds: u64) -> u64 {
        self.executor.advance(Duration::from_millis(milliseconds)).expect("no callback fails")
    }
}

pub(crate) fn virtual_context(clock: &VirtualClock) -> Context {
    Context::builder()
        .shared_memory(false)
        .domain(0)
        .virtual_time(clock)
        .build()
        .expect("no arguments to get wrong")
}

/// A context in real time that reads no environment.
pub(crate) fn real_context() -> Context {
    Context::builder().shared_memory(false).domain(0).build().expect("no arguments to get wrong")
}

/// Where a message lies.
pub(crate) fn address<T>(message: &T) -> usize {
    (&raw const *message).addr()
}

/// A message that is its number, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Number(pub(crate) u64);

impl Message for Number {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "test_msgs/msg/Number",
        hash: TypeHash([8; 32]),
        description: None,
        size: |_| 8,
        encode: |number, encoded| encoded.copy_from_slice(&number.0.to_le_bytes()),
        decode: |encoded| match encoded.try_into() {
            Ok(bytes) => Ok(Number(u64::from_le_bytes(bytes))),
            Err(_) => Err(DecodeError::Invalid {
                type_name: "test_msgs/msg/Number",
                field: "number",
                offset: 0,
                problem: "not 8 bytes",
            }),
        },
        decode_into: |encoded, number| {
            *number = (Number::ENCODING.expect("above").decode)(encoded)?;
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

/// A message of any length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

impl Message for Text {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "test_msgs/msg/Text",
        hash: TypeHash([9; 32]),
        description: None,
        size: |text| text.0.len(),
        encode: |text, encoded| encoded.copy_from_slice(text.0.as_bytes()),
        decode: |encoded| match String::from_utf8(encoded.to_vec()) {
            Ok(text) => Ok(Text(text)),
            Err(_) => Err(DecodeError::Invalid {
                type_name: "test_msgs/msg/Text",
                field: "text",
                offset: 0,
                problem: "not UTF-8",
            }),
        },
        decode_into: |encoded, text| {
            *text = (Text::ENCODING.expect("above").decode)(encoded)?;
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

/// A place that callbacks and threads report to, in the order in which they do.
pub(crate) struct Log<T> {
    sender: mpsc::Sender<T>,
    receiver: mpsc::Receiver<T>,
}

impl<T: fmt::Debug> Log<T> {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { sender, receiver }
    }

    /// What a callback or a thread takes along.
    pub(crate) fn pen(&self) -> Pen<T> {
        Pen(self.sender.clone())
    }

    /// All that was reported since the last call.
    pub(crate) fn lines(&self) -> Vec<T> {
        self.receiver.try_iter().collect()
    }

    /// The next report, for which it waits.
    #[track_caller]
    pub(crate) fn next(&self) -> T {
        self.next_within(PATIENCE).expect("a callback was to report something")
    }

    /// The next so many reports, for which it waits.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: u64) -> Vec<T> {
        (0..count).map(|_| self.next()).collect()
    }

    /// The next report, if it comes within that time.
    pub(crate) fn next_within(&self, time: Duration) -> Option<T> {
        self.receiver.recv_timeout(time).ok()
    }
}

/// Writes into a [`Log`].
pub(crate) struct Pen<T>(mpsc::Sender<T>);

impl<T> Pen<T> {
    pub(crate) fn write(&self, line: T) {
        let _ = self.0.send(line); // nobody reads any more when the test is over
    }
}

impl<T> Clone for Pen<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A gate between threads: `wait` returns once another thread has opened it.
#[derive(Clone)]
pub(crate) struct Gate {
    open: mpsc::SyncSender<()>,
    wait: Arc<Waiting>,
}

#[expect(clippy::disallowed_types, reason = "a test's own lock; nothing here is modelled")]
type Waiting = std::sync::Mutex<mpsc::Receiver<()>>;

impl Gate {
    pub(crate) fn new() -> Self {
        let (open, wait) = mpsc::sync_channel(1);
        Self { open, wait: Arc::new(Waiting::new(wait)) }
    }

    /// Lets one `wait` pass.
    pub(crate) fn open(&self) {
        let _ = self.open.try_send(()); // it is open already
    }

    #[track_caller]
    pub(crate) fn wait(&self) {
        let wait = self.wait.lock().expect("no waiter panics");
        wait.recv_timeout(PATIENCE).expect("another thread was to open the gate");
    }
}

/// Where contexts meet that stand for processes: a directory of its own, removed at the end.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").expect("shared memory"))
    }

    pub(crate) fn context(&self) -> Context {
        Context::builder().domain(3).directory(self.0.path()).build().expect("a context")
    }
}

/// Looks until there is something; what another thread, or another process, brings.
#[track_caller]
pub(crate) fn wait_for<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> R {
    let begin = sinew::time::Time::steady();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "{what}: it never is");
        thread::yield_now();
    }
}

/// Runs what might hang if something is broken, and fails instead.
#[track_caller]
pub(crate) fn finishes<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || {
        let _ = done.send(work());
    });
    // It may wait for more than one thing.
    match result.recv_timeout(5 * PATIENCE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("it sends before it ends"),
        },
    }
}

/// Takes all that waits in a subscription.
pub(crate) fn numbers_in(subscription: &Subscription<Number>) -> Vec<u64> {
    std::iter::from_fn(|| subscription.take()).map(|(number, _)| number.0).collect()
}

/// The same where another thread may be bringing in the last of them: waits until so many have
/// come, and says which has more.
pub(crate) fn all_numbers_in(subscription: &Subscription<Number>, count: u64) -> Vec<u64> {
    let begin = sinew::time::Time::steady();
    let mut numbers = numbers_in(subscription);
    while (numbers.len() as u64) < count && sinew::time::Time::steady() - begin < PATIENCE {
        thread::yield_now();
        numbers.extend(numbers_in(subscription));
    }
    numbers
}

/// A service from numbers to numbers.
pub(crate) struct Numbers;

impl sinew::Service for Numbers {
    type Request = Number;
    type Response = Number;
    const TYPE: Option<&'static ServiceType> =
        Some(&ServiceType { name: "test_msgs/srv/Numbers", hash: TypeHash([10; 32]) });
}
