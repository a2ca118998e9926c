//! Once messages flow, and no reader sleeps, publishing and taking between participants asks
//! nothing of the operating system: no call to wake a thread, none for memory. A publisher that
//! waits for its readers asks for little: once for many messages.
//!
//! A thread under test gets a filter (seccomp) that hands each of its system calls to another
//! thread, which notes it and lets it go on.
#![cfg(target_os = "linux")]

mod support;

use sinew::prelude::*;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread;
use support::skip;

const PATIENCE: Duration = Duration::from_secs(60);

/// As often it is done before it counts, so that everybody has the memory that he needs, and then.
const ROUNDS: u64 = 500;

/// For two threads, which may have to wait for each other's turn on a core.
const FEW: u64 = 100;

/// What the threads under test ask of the operating system.
#[derive(Default)]
struct Calls {
    counts: AtomicBool,
    count: AtomicU64,
    /// The last one's number.
    last: AtomicI32,
}

impl Calls {
    /// Notes the calls of this thread from now on. Fails where threads can't have such filters.
    fn watch(self: &Arc<Self>) -> Result<(), Error> {
        // Afterwards it is too late for anything but an atomic: a thread that is watched waits for
        // who watches it.
        let descriptor = Arc::new(AtomicI32::new(UNKNOWN));
        let (calls, theirs) = (self.clone(), descriptor.clone());
        thread::spawn(move || {
            let raw = loop {
                match theirs.load(Ordering::Acquire) {
                    UNKNOWN => thread::yield_now(),
                    NONE => return,
                    raw => break raw,
                }
            };
            // SAFETY: the filter's own descriptor, which was just made and which nobody else knows.
            calls.listen(&unsafe { OwnedFd::from_raw_fd(raw) });
        });
        let installed = install_filter();
        descriptor.store(*installed.as_ref().unwrap_or(&NONE), Ordering::Release);
        installed.map(drop)
    }

    /// Until the thread is gone.
    fn listen(&self, filter: &OwnedFd) {
        let mut poll = libc::pollfd { fd: filter.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        loop {
            // SAFETY: one structure, which lives as long as the call.
            unsafe { libc::poll(&raw mut poll, 1, -1) };
            if poll.revents & libc::POLLIN == 0 {
                return;
            }
            // SAFETY: numbers, of which all bits may be 0, as the kernel wants them.
            let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: the structure that this request writes to.
            let found = unsafe { libc::ioctl(poll.fd, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
            if found != 0 {
                continue; // the thread died meanwhile, or a signal came
            }
            if self.counts.load(Ordering::Acquire) {
                self.last.store(call.data.nr, Ordering::Relaxed); // read when the thread is done
                self.count.fetch_add(1, Ordering::Relaxed);
            }
            let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("one bit");
            let mut answer = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags };
            // SAFETY: the structure that this request reads from.
            unsafe { libc::ioctl(poll.fd, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
        }
    }

    /// Does something again and again: first to be ready for it, and then without a system call.
    fn expect_none(self: &Arc<Self>, rounds: u64, mut round: impl FnMut(u64)) {
        (0..rounds).for_each(&mut round);
        if let Err(error) = self.watch() {
            return skip(&format!(
                "system calls can't be counted here, for want of seccomp's notifications: {error}"
            ));
        }
        let count = self.count_in(|| (rounds..2 * rounds).for_each(&mut round));
        let last = self.last.load(Ordering::Relaxed);
        assert_eq!(count, 0, "system calls in {rounds} rounds; the last one had number {last}");
    }

    /// How often the threads that are watched call meanwhile.
    fn count_in(&self, work: impl FnOnce()) -> u64 {
        self.counts.store(true, Ordering::Release);
        work();
        self.counts.store(false, Ordering::Release);
        self.count.load(Ordering::Relaxed)
    }
}

/// In place of a descriptor.
const UNKNOWN: i32 = -1;
const NONE: i32 = -2;

/// A filter for this thread that passes the clock, which is no system call where it can be helped,
/// and notifies of all else.
fn install_filter() -> Result<i32, Error> {
    let instruction = |code: u32, jt, jf, k| libc::sock_filter {
        code: u16::try_from(code).expect("it has 16 bits"),
        jt,
        jf,
        k,
    };
    let clock = u32::try_from(libc::SYS_clock_gettime).expect("numbers are small");
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the call's number
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, 0, clock),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_USER_NOTIF),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: no pointers; it takes rights from this thread that it doesn't need.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(Error::last_os_error());
    }
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: the program and its instructions live as long as the call, which copies them.
    let descriptor = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    if descriptor < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(i32::try_from(descriptor).expect("descriptors are small"))
    }
}

/// What fits into a slot of a ring.
#[derive(Message, Debug, Clone, Copy, Default, PartialEq)]
#[message(plain)]
#[repr(C)]
struct Count {
    count: u64,
}

/// What doesn't.
#[derive(Message, Debug, Clone, Copy, PartialEq)]
#[message(plain)]
#[repr(C)]
struct Scan {
    count: u64,
    ranges: [u64; 1000],
}

impl Default for Scan {
    fn default() -> Self {
        Self { count: 0, ranges: [0; 1000] }
    }
}

/// What has text, and is decoded.
#[derive(Message, Debug, Clone, Default, PartialEq)]
struct Label {
    count: u64,
    text: String,
}

/// A message with a number.
trait Counted: Message + Default {
    fn count(&mut self) -> &mut u64;
}

macro_rules! counted {
    ($($message:ty)*) => {$(
        impl Counted for $message {
            fn count(&mut self) -> &mut u64 {
                &mut self.count
            }
        }
    )*};
}

counted!(Count Scan Label);

/// Two participants, which meet in a directory of their own.
struct Pair<T: Message> {
    _place: tempfile::TempDir,
    listener: Node,
    publisher: Publisher<T>,
}

impl<T: Counted> Pair<T> {
    fn new() -> sinew::Result<Self> {
        let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
        let node = |name| -> sinew::Result<Node> {
            Ok(Context::builder().domain(3).directory(place.path()).build()?.node(name)?)
        };
        let publisher = node("talker")?.publisher::<T>("counts").create()?;
        Ok(Self { listener: node("listener")?, _place: place, publisher })
    }

    fn publish(&self, count: u64) {
        let mut message = self.publisher.loan();
        *message.count() = count;
        self.publisher.publish(message).expect("there is room");
    }
}

/// The filter stays with its thread.
fn in_a_thread(work: impl FnOnce() -> sinew::Result<()> + Send) -> sinew::Result<()> {
    thread::scope(|scope| scope.spawn(work).join().expect("no panic"))
}

fn taking_by_hand<T: Counted>(number: fn(&T) -> u64) -> sinew::Result<()> {
    let pair = Pair::<T>::new()?;
    let subscription = pair.listener.subscription::<T>("counts").create()?;
    assert!(pair.publisher.wait_for_subscribers(1, PATIENCE));
    in_a_thread(|| {
        Arc::<Calls>::default().expect_none(ROUNDS, |round| {
            pair.publish(round);
            let taken = std::iter::repeat_with(|| subscription.take()).find_map(|taken| taken);
            assert_eq!(number(&taken.expect("it comes").0), round);
        });
        Ok(())
    })
}

#[test]
fn taking_by_hand_asks_for_nothing() -> sinew::Result<()> {
    taking_by_hand::<Count>(|message| message.count)?;
    taking_by_hand::<Scan>(|message| message.count)?;
    taking_by_hand::<Label>(|message| message.count)
}

fn spinning_now_and_then<T: Counted>(number: fn(&T) -> u64) -> sinew::Result<()> {
    let pair = Pair::<T>::new()?;
    let last = Arc::new(AtomicU64::new(u64::MAX));
    let received = last.clone();
    let callback = move |message: &T| received.store(number(message), Ordering::Relaxed);
    let _subscription = pair.listener.subscription::<T>("counts").callback(callback)?;
    assert!(pair.publisher.wait_for_subscribers(1, PATIENCE));
    let executor = Executor::single();
    executor.add(&pair.listener)?;
    in_a_thread(|| {
        Arc::<Calls>::default().expect_none(ROUNDS, |round| {
            pair.publish(round);
            while last.load(Ordering::Relaxed) != round {
                executor.spin_some().expect("no callback fails");
            }
        });
        Ok(())
    })
}

#[test]
fn an_executor_that_is_awake_asks_for_nothing() -> sinew::Result<()> {
    spinning_now_and_then::<Count>(|message| message.count)?;
    spinning_now_and_then::<Scan>(|message| message.count)?;
    spinning_now_and_then::<Label>(|message| message.count)
}

/// Both are watched: the publisher rings nobody, and the executor goes on looking.
#[test]
fn an_executor_that_spins_in_another_thread_is_not_woken() -> sinew::Result<()> {
    let pair = Pair::<Count>::new()?;
    let (calls, last) = (Arc::<Calls>::default(), Arc::new(AtomicU64::new(u64::MAX)));
    let received = last.clone();
    let callback = move |message: &Count| received.store(message.count, Ordering::Relaxed);
    let _subscription = pair.listener.subscription::<Count>("counts").callback(callback)?;
    assert!(pair.publisher.wait_for_subscribers(1, PATIENCE));
    let executor = Executor::builder().spin_before_park(Duration::from_secs(3600)).build()?;
    executor.add(&pair.listener)?;
    let stop = executor.stop_handle();
    thread::scope(|scope| {
        let spinning = scope.spawn(|| {
            let _ = calls.watch(); // where that can't be, the other one says so
            executor.spin()
        });
        let publishing = scope.spawn(|| {
            calls.expect_none(FEW, |round| {
                pair.publish(round);
                while last.load(Ordering::Relaxed) != round {
                    std::hint::spin_loop();
                }
            });
        });
        let published = publishing.join();
        stop.stop();
        published.expect("no panic");
        spinning.join().expect("no panic").map_err(Into::into)
    })
}

/// Returns what it is asked for.
struct Echo;

impl sinew::Service for Echo {
    type Request = Count;
    type Response = Count;
}

/// The client's executor runs a future that waits for one answer after the other.
#[test]
fn a_client_that_spins_while_it_awaits_answers_asks_for_nothing() -> sinew::Result<()> {
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let context = || Context::builder().domain(3).directory(place.path()).build();
    let (serving, asking) = (context()?, context()?);
    let _server = serving.node("server")?.server::<Echo>("echo").callback(|request: &Count| *request)?;
    let client = asking.node("client")?.client::<Echo>("echo").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let spinning = |context: &Context| -> sinew::Result<Executor> {
        let executor = Executor::builder().spin_before_park(Duration::from_secs(3600)).build()?;
        executor.add(context)?;
        Ok(executor)
    };
    let (servers, clients) = (spinning(&serving)?, spinning(&asking)?);
    let stop = servers.stop_handle();
    let calls = Arc::<Calls>::default();
    let ask = async |count| {
        let answer = client.call_async(Count { count }).await.expect("an answer");
        assert_eq!(answer.count, count);
    };
    let ask_often = async || {
        for count in 0..FEW {
            ask(count).await;
        }
        if let Err(error) = calls.watch() {
            return skip(&format!("system calls can't be counted here: {error}"));
        }
        calls.counts.store(true, Ordering::Release);
        for count in 0..FEW {
            ask(count).await;
        }
        calls.counts.store(false, Ordering::Release);
    };
    thread::scope(|scope| {
        let serving = scope.spawn(|| servers.spin());
        let asked = scope.spawn(|| clients.spin_until(ask_often())).join();
        stop.stop();
        asked.expect("no panic")?;
        serving.join().expect("no panic")
    })?;
    let (count, last) = (calls.count.load(Ordering::Relaxed), calls.last.load(Ordering::Relaxed));
    assert_eq!(count, 0, "system calls for {FEW} answers; the last one had number {last}");
    Ok(())
}

/// The server's thread takes and answers by hand, and the client's polls for the answer: neither
/// wakes any other thread.
#[test]
fn requests_taken_by_hand_ask_for_nothing() -> sinew::Result<()> {
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let context = || Context::builder().domain(3).directory(place.path()).build();
    let (serving, asking) = (context()?, context()?);
    let server = serving.node("server")?.server::<Echo>("echo").create()?;
    let client = asking.node("client")?.client::<Echo>("echo").spin_before_park(PATIENCE).create()?;
    assert!(client.wait_for_server(PATIENCE));
    let calls = Arc::<Calls>::default();
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let _ = calls.watch(); // where that can't be, the other one says so
            for count in 0..2 * FEW {
                assert_eq!(client.call(Count { count }, PATIENCE).expect("an answer").count, count);
            }
        });
        let serving = scope.spawn(|| {
            calls.expect_none(FEW, |round| {
                let taken = std::iter::repeat_with(|| server.take_request()).find_map(|taken| taken);
                let (request, info) = taken.expect("it comes");
                assert_eq!(request.count, round);
                server.respond(&info.key(), *request).expect("it is in hand");
            });
        });
        // Without the filter the server's thread ends early.
        while !asking.is_finished() {
            if serving.is_finished()
                && let Some((request, info)) = server.take_request()
            {
                drop(server.respond(&info.key(), *request));
            }
            thread::yield_now();
        }
        asking.join().expect("no panic");
        serving.join().expect("no panic");
    });
    Ok(())
}

/// Messages of a flood, and how many of them may be under way.
const FLOOD: u64 = 20_000;
const UNDER_WAY: usize = 512;

/// A publisher that is faster than its reader, or waits for one that has just been taken off its
/// core, is rung for once it has room for many, not for every one, which would take two system calls
/// a message. How many it takes depends on how fast the machine wakes a thread: 0.1 a message on most
/// machines, 0.2 to 0.8 on one with two quiet cores.
fn flood(contexts: [Context; 2]) -> sinew::Result<()> {
    let [here, there] = contexts;
    let qos = QoS::default().keep_all().max_samples(UNDER_WAY).max_blocking_time(PATIENCE);
    let subscription = there.node("drain")?.subscription::<Count>("flood").qos(qos).create()?;
    let publisher = here.node("source")?.publisher::<Count>("flood").qos(qos).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let calls = Arc::<Calls>::default();
    let (ready, watches) = (AtomicU64::new(0), AtomicBool::new(true));
    let watch = || {
        let watched = calls.watch();
        if let Err(error) = &watched {
            skip(&format!("system calls can't be counted here: {error}"));
            watches.store(false, Ordering::Relaxed);
        }
        // Both are watched before either begins.
        ready.fetch_add(1, Ordering::AcqRel);
        while ready.load(Ordering::Acquire) < 2 {
            std::hint::spin_loop();
        }
    };
    let count = calls.count_in(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                watch();
                for count in 0..FLOOD {
                    publisher.publish(Count { count }).expect("the reader goes on");
                }
            });
            scope.spawn(|| {
                watch();
                for round in 0..FLOOD {
                    let taken = std::iter::repeat_with(|| subscription.take()).find_map(|taken| taken);
                    assert_eq!(taken.expect("it comes").0.count, round);
                }
            });
        });
    });
    let messages = FLOOD;
    if watches.load(Ordering::Relaxed) {
        assert!(count * 2 <= messages * 3, "{count} system calls for {messages} messages");
    }
    Ok(())
}

#[test]
fn a_flood_between_participants_calls_once_for_many_messages() -> sinew::Result<()> {
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let context = || Context::builder().domain(3).directory(place.path()).build();
    flood([context()?, context()?])
}

#[test]
fn a_flood_between_threads_calls_once_for_many_messages() -> sinew::Result<()> {
    let context = Context::builder().shared_memory(false).build()?;
    flood([context.clone(), context])
}
