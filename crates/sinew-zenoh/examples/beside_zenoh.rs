//! What a gateway costs beside a bare zenoh session: the same message, the same router, the same
//! machine, in alternating rounds. All in one process; times are one way, as both ends have its
//! clock.
//!
//! `cargo run --release -p sinew-zenoh --example beside_zenoh [ROUNDS]`

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures in real time")]

use sinew::prelude::*;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::std_msgs::msg::UInt8MultiArray;
use sinew_zenoh::config::SessionOptions;
use sinew_zenoh::{Gateway, Router};
use std::error::Error;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;
use zenoh::Wait;
use zenoh::qos::CongestionControl;
use zenoh::query::{ConsolidationMode, QueryTarget};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PATIENCE: Duration = Duration::from_secs(20);

/// A host of its own: where its programs meet, a program, and the gateway in it.
struct Host {
    _place: tempfile::TempDir,
    context: Context,
    _gateway: Gateway,
    /// The gateway's own context, if it is another program.
    _other: Option<Context>,
}

impl Host {
    fn new(options: &SessionOptions, is_embedded: bool) -> Outcome<Self> {
        let place = tempfile::tempdir_in("/dev/shm")?;
        let make = || Context::builder().domain(1).directory(place.path()).build();
        let context = make()?;
        let other = if is_embedded { None } else { Some(make()?) };
        let gateway = Gateway::builder().options(options.clone());
        let gateway = gateway.start_with(other.as_ref().unwrap_or(&context), &|_| None)?;
        Ok(Self { _place: place, context, _gateway: gateway, _other: other })
    }
}

/// What is measured: `send` a message with that number, and when it came.
struct Way<'a> {
    name: &'static str,
    send: Box<dyn Fn() + 'a>,
    came: &'a Receiver<Instant>,
}

impl Way<'_> {
    /// One-way times at 100 Hz, in microseconds, sorted.
    fn latencies(&self, count: usize) -> Vec<f64> {
        let mut times: Vec<f64> = (0..count)
            .map(|_| {
                std::thread::sleep(Duration::from_millis(10));
                let begin = Instant::now();
                (self.send)();
                let came = self.came.recv_timeout(PATIENCE).expect("it comes");
                came.duration_since(begin).as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// Messages per second.
    fn throughput(&self, count: usize) -> f64 {
        let begin = Instant::now();
        let mut last = begin;
        (0..count).for_each(|_| (self.send)());
        for _ in 0..count {
            last = self.came.recv_timeout(PATIENCE).expect("it comes");
        }
        count as f64 / last.duration_since(begin).as_secs_f64()
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn told(to: Sender<Instant>) -> impl Fn() + Send + Sync + 'static {
    let to = std::sync::Mutex::new(to);
    move || {
        let now = Instant::now();
        // The receiver goes last.
        let _ = to.lock().expect("no panic").send(now);
    }
}

fn main() -> Outcome<()> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    let mut options = SessionOptions::default();
    options.listen.push("tcp/127.0.0.1:0".to_owned());
    let router = Router::start(&|_| None, &options)?;
    options.connect.push(router.endpoints().remove(0));
    let session = || -> Outcome<zenoh::Session> {
        let config = sinew_zenoh::config::session(&|_| None, &options)?;
        Ok(zenoh::open(config).wait().map_err(|error| error.to_string())?)
    };
    let (one, other) = (session()?, session()?);
    let embedded = [Host::new(&options, true)?, Host::new(&options, true)?];
    let apart = [Host::new(&options, false)?, Host::new(&options, false)?];

    for size in [("64 B", 64 - 20, 200), ("1 MB", 1 << 20, 60)] {
        topics(&one, &other, [("embedded", &embedded), ("apart", &apart)], size, rounds)?;
    }
    services(&one, &other, &embedded, rounds)
}

fn services(one: &zenoh::Session, other: &zenoh::Session, hosts: &[Host; 2], rounds: usize) -> Outcome<()> {
    let key = "raw/add";
    let queryable = other.declare_queryable(key).complete(true).callback(move |query| {
        let payload = query.payload().expect("a request").to_bytes().into_owned();
        query.reply(key, payload).wait().expect("it is open");
    });
    let _queryable = queryable.wait().map_err(|error| error.to_string())?;
    let executor = Executor::single();
    executor.add(&hosts[1].context)?;
    hosts[1]
        .context
        .node("server")?
        .server::<AddTwoInts>("/add")
        .callback(|request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b })?
        .detach();
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin().map_err(|error| error.to_string()));
    let client = hosts[0].context.node("client")?.client::<AddTwoInts>("/add").create()?;
    if !client.wait_for_server(PATIENCE) {
        return Err("the server isn't seen".into());
    }
    std::thread::sleep(Duration::from_millis(500));
    let raw = || {
        let replies = one
            .get(key)
            .payload(vec![7u8; 20])
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .wait()
            .expect("it is open");
        replies.into_iter().next().expect("an answer");
    };
    let ours = || {
        let request = AddTwoIntsRequest { a: 1, b: 2 };
        client.call(request, PATIENCE).expect("an answer");
    };
    let measure = |call: &dyn Fn()| {
        let times = (0..100).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let begin = Instant::now();
            call();
            begin.elapsed().as_secs_f64() * 1e6
        });
        median(times.collect())
    };
    let all: Vec<(f64, f64)> = (0..rounds).map(|_| (measure(&raw), measure(&ours))).collect();
    println!(
        "service round trip: raw zenoh {:.1} us, ours {:.1} us ({:.2} x)",
        median(all.iter().map(|(raw, _)| *raw).collect()),
        median(all.iter().map(|(_, ours)| *ours).collect()),
        median(all.iter().map(|(raw, ours)| ours / raw).collect())
    );
    stop.stop();
    spinning.join().map_err(|_| "it panicked")??;
    Ok(())
}

fn topics(
    one: &zenoh::Session,
    other: &zenoh::Session,
    hosts: [(&str, &[Host; 2]); 2],
    (label, length, count): (&str, usize, usize),
    rounds: usize,
) -> Outcome<()> {
    let (to, raw_came) = mpsc::channel();
    let tell = told(to);
    let key = format!("raw/{}", label.replace(' ', ""));
    let _raw = other.declare_subscriber(key.clone()).callback(move |sample| {
        std::hint::black_box(sample.payload().to_bytes());
        tell();
    });
    let _raw = _raw.wait().map_err(|error| error.to_string())?;
    let raw = one.declare_publisher(key).congestion_control(CongestionControl::Block).wait();
    let raw = raw.map_err(|error| error.to_string())?;
    let payload = vec![7u8; length + 20];
    let message = UInt8MultiArray { data: vec![7; length], ..UInt8MultiArray::default() };
    let qos = QoS::new().keep_all();
    let mut ends = Vec::new();
    for (kind, hosts) in hosts {
        let topic = format!("/{kind}/bytes_{length}");
        let images = hosts[1].context.node("far")?.subscription::<UInt8MultiArray>(&topic).qos(qos);
        let images = images.accept_images().create()?;
        let publisher = hosts[0].context.node("near")?.publisher::<UInt8MultiArray>(&topic).qos(qos);
        let publisher = publisher.create()?;
        let (to, came) = mpsc::channel();
        let tell = told(to);
        let taking = images.clone();
        images.set_listener(move |_| {
            while let Some(sample) = taking.take_sample() {
                std::hint::black_box(sample);
                tell();
            }
        });
        if !publisher.wait_for_subscribers(1, PATIENCE) {
            return Err("the hosts don't see each other".into());
        }
        ends.push((publisher, images, came));
    }
    std::thread::sleep(Duration::from_millis(200));
    let mut ways = vec![Way {
        name: "raw zenoh",
        send: Box::new(|| raw.put(payload.clone()).wait().expect("it is open")),
        came: &raw_came,
    }];
    for (name, (publisher, _, came)) in ["embedded gateways", "gateways of their own"].into_iter().zip(&ends)
    {
        let message = &message;
        ways.push(Way {
            name,
            send: Box::new(move || publisher.publish(message).expect("it is open")),
            came,
        });
    }
    let (mut times, mut rates) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    for _ in 0..rounds {
        for (index, way) in ways.iter().enumerate() {
            let sorted = way.latencies(count);
            times[index].push(sorted[sorted.len() / 2]);
            rates[index].push(way.throughput(count));
        }
    }
    for (index, way) in ways.iter().enumerate() {
        let ratios =
            |all: &[Vec<f64>]| median(all[index].iter().zip(&all[0]).map(|(one, raw)| one / raw).collect());
        println!(
            "{label} {:22} P50 {:8.1} us ({:.2} x raw)   {:9.0} messages/s ({:.2} x raw)",
            way.name,
            median(times[index].clone()),
            ratios(&times),
            median(rates[index].clone()),
            ratios(&rates)
        );
    }
    Ok(())
}
