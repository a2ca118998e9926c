//! Messages, one by one and at the highest rate that gets through.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use sinew::{Publisher, QoS, Subscription};
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use super::hosts::{Gateways, Host, Network, refused};
use super::one_by_one::{RATE, await_told, one_by_one, tell};
use crate::flood;
use crate::messages::Stamped;
use crate::process::PATIENCE;
use crate::{Error, Figures, Settings, Sheet, Side, matched, nanoseconds, now_ns};

/// A small message.
const SMALL: usize = 64;

/// A large one.
const LARGE: usize = 1 << 20;

/// Limits of the bytes and of the messages in transit, so that no side is measured by the size of
/// its queues.
const UNDER_WAY: (usize, usize) = (16 << 20, 1000);

/// Length of an encoded [`Stamped`] beyond its data.
pub(super) const HEAD: usize = 24;

/// A path from one host to the other.
struct Way<'a> {
    send: Box<dyn Fn() -> Result<(), Error> + 'a>,
    came: &'a Receiver<i64>,
}

impl Way<'_> {
    fn one_by_one(&self, time: Duration) -> Result<Figures, Error> {
        one_by_one(time, 1, || {
            (self.send)()?;
            await_told(self.came)
        })
    }

    fn flood(&self, time: Duration, size: usize) -> Result<Figures, Error> {
        let under_way = (UNDER_WAY.0 / size).min(UNDER_WAY.1) as u64;
        let begin = now_ns();
        let until = begin + nanoseconds(time);
        let (mut sent, mut received, mut last) = (0, 0, begin);
        while now_ns() < until || received < sent {
            if now_ns() < until && sent - received < under_way {
                (self.send)()?;
                sent += 1;
            } else {
                last = await_told(self.came)?;
                received += 1;
            }
            while let Ok(at) = self.came.try_recv() {
                (last, received) = (at, received + 1);
            }
        }
        Ok(flood::figures(last - begin, received, size))
    }
}

/// Measures 64 B, one way.
pub(super) fn latency(path: &Path, sheet: &mut Sheet) -> Result<(), Error> {
    let case = Settings::new().with("case", "latency").with("size", SMALL).with("rate", RATE);
    Ways::new(path, SMALL)?.measure("64 B to another host", &case, sheet, |way, time| way.one_by_one(time))
}

/// Measures the highest rate that gets through, for messages of 64 B and of 1 MB.
pub(super) fn throughput(path: &Path, sheet: &mut Sheet) -> Result<(), Error> {
    for size in [SMALL, LARGE] {
        let ways = Ways::new(&path.join(size.to_string()), size)?;
        let case = Settings::new().with("case", "throughput").with("size", size);
        let what = format!("messages of {size} B to another host");
        ways.measure(&what, &case, sheet, |way, time| way.flood(time, size))?;
    }
    Ok(())
}

/// All paths for messages of one size, with their endpoints.
struct Ways {
    payload: Vec<u8>,
    message: Stamped,
    raw: RawWay,
    ours: [OurWay; 2],
    _hosts: [[Host; 2]; 2],
    _sessions: [Session; 2],
    _network: Network,
}

struct RawWay {
    publisher: zenoh::pubsub::Publisher<'static>,
    _subscriber: zenoh::pubsub::Subscriber<()>,
    came: Receiver<i64>,
}

struct OurWay {
    publisher: Publisher<Stamped>,
    subscription: Subscription<Stamped>,
    came: Receiver<i64>,
}

impl Drop for OurWay {
    fn drop(&mut self) {
        self.subscription.clear_listener(); // the listener holds the subscription itself
    }
}

impl Ways {
    /// `size`: of an encoded message.
    fn new(path: &Path, size: usize) -> Result<Self, Error> {
        let network = Network::new()?;
        let sessions = [network.session()?, network.session()?];
        let raw = RawWay::open(&sessions)?;
        let hosts =
            [Host::pair(&network, path, Gateways::Embedded)?, Host::pair(&network, path, Gateways::Apart)?];
        // All hosts are on one network: each pair has a topic of its own.
        let ours = [OurWay::open(&hosts[0], "embedded")?, OurWay::open(&hosts[1], "apart")?];
        let message = Stamped { data: vec![7; size.saturating_sub(HEAD)], ..Stamped::default() };
        let payload = vec![7; size];
        Ok(Self { payload, message, raw, ours, _hosts: hosts, _sessions: sessions, _network: network })
    }

    /// Measures a row for bare zenoh, and one for each place of the gateways.
    fn measure(
        &self,
        what: &str,
        case: &Settings,
        sheet: &mut Sheet,
        measure: impl Fn(&Way<'_>, Duration) -> Result<Figures, Error>,
    ) -> Result<(), Error> {
        let measure = &measure;
        let put = || self.raw.publisher.put(self.payload.clone()).wait().map_err(refused);
        let raw = Way { send: Box::new(put), came: &self.raw.came };
        let mut sides = vec![Side::floor("zenoh", case.clone(), move |time| measure(&raw, time))];
        for (gateways, way) in [Gateways::Embedded, Gateways::Apart].into_iter().zip(&self.ours) {
            let publish = || Ok(way.publisher.publish(&self.message).map_err(sinew::Error::from)?);
            let ours = Way { send: Box::new(publish), came: &way.came };
            sides.push(Side::sinew(gateways.with(case.clone()), move |time| measure(&ours, time)));
        }
        sheet.measure(what, sides)
    }
}

impl RawWay {
    fn open([near, far]: &[Session; 2]) -> Result<Self, Error> {
        let (to, came) = channel();
        let told = tell(&to);
        let subscriber = far.declare_subscriber("raw/bytes").callback(move |sample| {
            std::hint::black_box(sample.payload().to_bytes());
            told();
        });
        let subscriber = subscriber.wait().map_err(refused)?;
        let publisher = near.declare_publisher("raw/bytes").congestion_control(CongestionControl::Block);
        let publisher = publisher.wait().map_err(refused)?;
        let way = Self { publisher, _subscriber: subscriber, came };
        // The first messages may be sent before the other session is known.
        until_it_comes(&way.came, || way.publisher.put(vec![7; 64]).wait().map_err(refused))?;
        Ok(way)
    }
}

impl OurWay {
    fn open([near, far]: &[Host; 2], topic: &str) -> Result<Self, Error> {
        let qos = QoS::default().keep_all().max_samples(1000).max_blocking_time(PATIENCE);
        let subscription = far.context.node("far")?.subscription::<Stamped>(topic).qos(qos);
        let subscription = subscription.read_in_place().create()?;
        let (to, came): (Sender<i64>, _) = channel();
        let (told, taking) = (tell(&to), subscription.clone());
        // Taking messages may bring in more, and call this again: the first call goes on.
        let wanted = AtomicUsize::new(0);
        subscription.set_listener(move |_| {
            let mut seen = 1;
            if wanted.fetch_add(1, Ordering::AcqRel) > 0 {
                return;
            }
            loop {
                while let Some(sample) = taking.take_sample() {
                    std::hint::black_box(sample);
                    told();
                }
                match wanted.fetch_sub(seen, Ordering::AcqRel) - seen {
                    0 => return,
                    more => seen = more,
                }
            }
        });
        let publisher = near.context.node("near")?.publisher::<Stamped>(topic).qos(qos).create()?;
        matched(&publisher, 1)?;
        let way = Self { publisher, subscription, came };
        let small = Stamped::default();
        until_it_comes(&way.came, || Ok(way.publisher.publish(&small).map_err(sinew::Error::from)?))?;
        Ok(way)
    }
}

/// Sends until something arrives, and waits until no more does.
fn until_it_comes(came: &Receiver<i64>, send: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
    let until = now_ns() + nanoseconds(PATIENCE);
    loop {
        send()?;
        if came.recv_timeout(Duration::from_millis(20)).is_ok() {
            break;
        }
        if now_ns() > until {
            return Err(Error::PeerSilent { what: "net", waited: PATIENCE });
        }
    }
    while came.recv_timeout(Duration::from_millis(100)).is_ok() {}
    Ok(())
}
