//! Links between a session and a router that are slow, late, cut, or reorder messages.

use crate::network::Network;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zenoh::liveliness::LivelinessToken;
use zenoh::qos::CongestionControl;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

/// The effect of a link on bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Nature {
    /// Most bytes per millisecond towards the router; no limit in the other direction.
    pub(crate) rate: Option<usize>,
    /// Time in transit, in both directions.
    pub(crate) delay: Duration,
}

/// Listens on a port, and connects to another one. All its connections and threads end when it is
/// dropped.
pub(crate) struct Link {
    pub(crate) endpoint: String,
    here: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    is_cut: AtomicBool,
    has_ended: AtomicBool,
    /// The streams of the current connections.
    open: Mutex<Vec<TcpStream>>,
}

impl Shared {
    fn close_all(&self) {
        for stream in self.open.lock().drain(..) {
            let _ = stream.shutdown(Shutdown::Both); // fails if the other side has done so
        }
    }
}

impl Link {
    pub(crate) fn new(to: &str, nature: Nature) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = listener.local_addr().expect("it is bound");
        let to = to.trim_start_matches("tcp/").to_owned();
        let shared = Arc::<Shared>::default();
        let of_thread = shared.clone();
        std::thread::spawn(move || {
            for near in listener.incoming() {
                if of_thread.has_ended.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(near) = near else { continue };
                let Ok(far) = TcpStream::connect(&to) else { continue };
                let mut open = of_thread.open.lock();
                // Under the lock: a cut also closes this one.
                if of_thread.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let another = |stream: &TcpStream| stream.try_clone().expect("a socket");
                open.extend([another(&near), another(&far)]);
                carry(another(&near), another(&far), nature);
                carry(far, near, Nature { rate: None, ..nature });
            }
        });
        Self { endpoint: format!("tcp/{here}"), here, shared }
    }

    /// Loses everything in transit, and lets nothing pass any more.
    pub(crate) fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        self.shared.close_all();
    }

    /// Lets new connections pass again.
    pub(crate) fn mend(&self) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.here); // its thread notices the end
        self.shared.close_all();
    }
}

/// Starts the threads of both steps of one direction. They end with the connection.
fn carry(mut from: TcpStream, mut to: TcpStream, Nature { rate, delay }: Nature) {
    let (passes, passing) =
        mpsc::sync_channel::<(Instant, Vec<u8>)>(if delay.is_zero() { 0 } else { 10_000 });
    std::thread::spawn(move || {
        let mut buffer = vec![0; rate.unwrap_or(65536)];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if passes.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                break;
            }
            if rate.is_some() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in passing {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both); // fails if it is closed
    });
}

/// Two networks that are connected only through this: it announces endpoints in both directions,
/// and forwards the messages of one topic to the second network in a different order. A TCP link
/// keeps its order; a network with several paths need not.
pub(crate) struct MixedWays {
    /// Number of reordered groups.
    pub(crate) mixed: Arc<AtomicU64>,
    sessions: [Session; 2],
    threads: Vec<JoinHandle<()>>,
}

/// Number of messages in a group.
pub(crate) const MIXED: u64 = 4;

impl MixedWays {
    pub(crate) fn new(from: &Network, to: &Network, key: &str) -> Self {
        let (near, far) = (from.session(), to.session());
        let mixed = Arc::<AtomicU64>::default();
        let (counting, there, to_key) = (mixed.clone(), far.clone(), key.to_owned());
        let mut waiting: Vec<Sample> = Vec::new();
        let (came, comes) = mpsc::channel();
        let subscriber = near.declare_subscriber(key.to_owned()).callback(send_to(came));
        subscriber.background().wait().expect("the session is open");
        let messages = work_through(comes, move |sample| {
            waiting.push(sample);
            if waiting.len() as u64 != MIXED {
                return;
            }
            // 1 2 3 4 becomes 2 1 1 4: one is late, one comes twice, one is lost.
            for at in [1, 0, 0, 3] {
                let put = there.put(to_key.clone(), waiting[at].payload().clone());
                let put = put.attachment(waiting[at].attachment().cloned());
                put.congestion_control(CongestionControl::Block).wait().expect("it is open");
            }
            waiting.clear();
            counting.fetch_add(1, Ordering::SeqCst);
        });
        let told = Told::default();
        let threads = vec![messages, mirror(&near, &far, &told), mirror(&far, &near, &told)];
        Self { mixed, sessions: [near, far], threads }
    }
}

impl Drop for MixedWays {
    fn drop(&mut self) {
        for session in &self.sessions {
            let _ = session.close().wait(); // fails if a router is gone
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

fn send_to(came: Sender<Sample>) -> impl Fn(Sample) + Send + Sync + 'static {
    move |sample| {
        let _ = came.send(sample); // fails if the session is being closed
    }
}

/// Works on a separate thread until the session is closed: zenoh's threads must not wait for each
/// other.
fn work_through(comes: Receiver<Sample>, work: impl FnMut(Sample) + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || comes.into_iter().for_each(work))
}

/// Endpoints of one network that are announced in the other, by their keys. Shared by both
/// directions, so that an announced endpoint isn't announced back.
type Told = Arc<Mutex<HashMap<String, LivelinessToken>>>;

/// Announces the endpoints of one network in the other.
fn mirror(from: &Session, to: &Session, told: &Told) -> JoinHandle<()> {
    let (to, told) = (to.clone(), told.clone());
    let (came, comes) = mpsc::channel();
    let tokens = from.liveliness().declare_subscriber("@ros2_lv/**").history(true).callback(send_to(came));
    tokens.background().wait().expect("the session is open");
    work_through(comes, move |sample| {
        let key = sample.key_expr().as_str().to_owned();
        let mut told = told.lock();
        match sample.kind() {
            SampleKind::Put if !told.contains_key(&key) => {
                if let Ok(token) = to.liveliness().declare_token(key.clone()).wait() {
                    told.insert(key, token);
                }
            }
            SampleKind::Put => {}
            SampleKind::Delete => drop(told.remove(&key)),
        }
    })
}
