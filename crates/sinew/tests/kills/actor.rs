//! One of the processes: it has every kind of entity, all at once, and checks everything it
//! receives.

use crate::cast::DOMAIN;
use crate::ledger::{Ledger, Way};
use crate::protocols::{Clients, Servers};
use crate::support::{Number, Numbers};
use parking_lot::Mutex;
use sinew::error::{CallFailure, DecodeError, PublishFailure, UnsentMessage};
use sinew::interfaces::sensor_msgs::msg::{Image, ImageLengths};
use sinew::msg::view::Viewed;
use sinew::msg::{Encoding, Sample, TypeHash};
use sinew::prelude::*;
use sinew::service::CallResult;
use sinew_shm::Domain;
use sinew_shm::raw::{Master, OpenError, Queue, QueueOptions, ReadError, Space, Topic, Variable, WriteError};
use std::collections::VecDeque;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The variable with the directory where the processes meet; unset in the test itself.
pub(crate) const PLACE: &str = "SINEW_TEST_KILLS_PLACE";

/// The variable with the process's number, its seat, and the number of seats.
pub(crate) const SEAT: &str = "SINEW_TEST_KILLS_SEAT";

/// The beginning of its own lines among those of the test harness.
pub(crate) const SAID: &str = "said ";

/// How long it waits for events that other processes may prevent.
pub(crate) const HASTE: Duration = Duration::from_millis(200);

/// Samples that are held while newer ones are read.
const HELD: usize = 3;

/// A message that contains its writer and its number, and content that depends on both.
#[derive(Debug, Clone, Default, PartialEq)]
struct Parcel(Vec<u8>);

impl Message for Parcel {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "test_msgs/msg/Parcel",
        hash: TypeHash([6; 32]),
        description: None,
        size: |parcel| parcel.0.len(),
        encode: |parcel, image| image.copy_from_slice(&parcel.0),
        decode: |image| match image.len() {
            0..16 => Err(DecodeError::Invalid {
                type_name: "test_msgs/msg/Parcel",
                field: "bytes",
                offset: 0,
                problem: "they don't say of whom they are",
            }),
            _ => Ok(Parcel(image.to_vec())),
        },
        decode_into: |image, parcel| {
            *parcel = (Parcel::ENCODING.expect("above").decode)(image)?;
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

/// Lengths for a ring, and for chunks of several sizes.
const LENGTHS: [usize; 5] = [16, 40, 190, 1000, 9000];

impl Parcel {
    fn new(writer: u64, number: u64) -> Self {
        let mut bytes = [writer.to_le_bytes(), number.to_le_bytes()].concat();
        let filling = number.wrapping_mul(0x9e37_79b9).to_le_bytes();
        let length = LENGTHS[(number % LENGTHS.len() as u64) as usize];
        bytes.extend(filling.iter().cycle().take(length - bytes.len()));
        Self(bytes)
    }

    /// Returns its writer and its number, if it is intact.
    fn read(bytes: &[u8]) -> Option<(u64, u64)> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (writer, number) = (word(0)?, word(8)?);
        (Self::new(writer, number).0 == bytes).then_some((writer, number))
    }
}

/// The state that all threads of an actor share.
pub(crate) struct Actor {
    me: u64,
    pub(crate) ledger: Ledger,
    ends: AtomicBool,
}

impl Actor {
    pub(crate) fn is_there(&self) -> bool {
        !self.ends.load(Ordering::SeqCst)
    }

    /// Checks a received parcel.
    fn came(&self, way: Way, bytes: &[u8]) {
        match Parcel::read(bytes) {
            Some((writer, number)) if writer != self.me => self.ledger.came(way, writer, number),
            Some(_) => {} // other tests cover that a process receives its own messages
            None => self.ledger.complain(format!("{way:?}: a torn message of {} bytes", bytes.len())),
        }
    }

    // ---- threads ----

    /// Publishes messages that no subscription may miss.
    fn publish_lossless(&self, publisher: &Publisher<Parcel>) {
        for number in 1.. {
            let mut parcel = Unique::new(Parcel::new(self.me, number));
            while let Err(error) = publisher.publish(parcel) {
                match error.failure() {
                    PublishFailure::Full { .. } | PublishFailure::NoSpace { .. } => {}
                    other => return self.unless_it_ends(other),
                }
                let UnsentMessage::Unique(back) = error.into_message() else {
                    return self.ledger.complain("a message came back as something else");
                };
                parcel = back;
                if !self.is_there() {
                    return;
                }
            }
            thread::sleep(Duration::from_micros(500));
            if !self.is_there() {
                return;
            }
        }
    }

    pub(crate) fn unless_it_ends(&self, error: impl std::fmt::Display) {
        if self.is_there() {
            self.ledger.complain(error);
        }
    }

    /// Builds large images in shared memory, and checks those of others, some of which it holds.
    fn exchange_large_ones(&self, publisher: &Publisher<Image>, viewer: &Subscription<Image>) {
        let mut held: VecDeque<(Sample<Image>, u32)> = VecDeque::new();
        let mut small = Image { encoding: format!("{:x}", self.me), ..Image::default() };
        for number in 1.. {
            if !self.is_there() {
                return;
            }
            small.width = number;
            let length = 200_000 + (number as usize % 5) * 50_000;
            // Without room, it is left out.
            if let Ok(mut draft) = publisher.draft(&small, ImageLengths { data: length }) {
                draft.parts().data.fill(number as u8);
                match publisher.publish(draft).map_err(|error| error.failure()) {
                    Ok(()) | Err(PublishFailure::NoSpace { .. }) => {}
                    Err(other) => return self.unless_it_ends(other),
                }
            }
            while let Some((sample, _)) = viewer.take_sample() {
                let Some((writer, width)) = self.look_at(&sample) else { break };
                if writer != self.me {
                    self.ledger.came(Way::Large, writer, width.into());
                }
                held.push_back((sample, width));
                if held.len() > HELD
                    && let Some((oldest, width)) = held.pop_front()
                    && self.look_at(&oldest).is_none_or(|(_, now)| now != width)
                {
                    self.ledger.complain(format!("image {width} has changed while it was held"));
                }
            }
            thread::sleep(Duration::from_millis(4));
        }
    }

    /// Returns the writer and the number of an image, if it is intact.
    fn look_at(&self, sample: &Sample<Image>) -> Option<(u64, u32)> {
        let found = sample.view().ok().and_then(|view: <Image as Viewed>::View<'_>| {
            let data = view.data;
            let is_whole = data.first() == Some(&(view.width as u8)) && data[1..] == data[..data.len() - 1];
            let writer = u64::from_str_radix(&view.encoding.to_string(), 16).ok()?;
            is_whole.then_some((writer, view.width))
        });
        if found.is_none() {
            self.ledger.complain("a torn image");
        }
        found
    }

    /// Calls the others' servers in every way.
    fn call(self: &Arc<Self>, clients: &[Client<Numbers>]) {
        for (number, client) in (1..).zip(clients.iter().cycle()) {
            if !self.is_there() {
                return;
            }
            match number % 4 {
                0 => drop(client.call_async(Number(number))),
                1 => {
                    let this = self.clone();
                    let then = move |result: CallResult<Numbers>| this.is_answered(number, result);
                    if let Err(error) = client.call_then(Number(number), then) {
                        self.may_fail(error.failure());
                    }
                }
                _ => self.is_answered(number, client.call(Number(number), HASTE)),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_answered(&self, number: u64, result: CallResult<Numbers>) {
        match result {
            Ok(answer) if answer.0 == 2 * number => self.ledger.count(Way::Answers),
            Ok(answer) => self.ledger.complain(format!("{number} asked, {} answered", answer.0)),
            Err(error) => self.may_fail(error.failure()),
        }
    }

    /// Accepts failures because a server is gone, late, or stopped.
    pub(crate) fn may_fail(&self, failure: &CallFailure) {
        let may_be = matches!(
            failure,
            CallFailure::ServerGone
                | CallFailure::NoServer { .. }
                | CallFailure::Timeout { .. }
                | CallFailure::Full { .. }
        );
        if !may_be {
            self.unless_it_ends(failure);
        }
    }

    /// Writes to the queue, the topic and the variable that have no nodes. An actor that finds the
    /// variable without a master becomes its master.
    fn write(&self, space: &Space) {
        let options = QueueOptions { capacity: 8, patience: Some(Duration::from_secs(1)) };
        let queue = Queue::<[u8]>::open_with(space, "queue", &options).unwrap();
        let topic = Topic::<[u8]>::open_in(space, "topic").unwrap();
        let mut master: Option<Master<[u64; 40]>> = None;
        let mut waiting = 1;
        for number in 1u64.. {
            if !self.is_there() {
                return;
            }
            match queue.write_within(&Parcel::new(self.me, waiting).0, HASTE) {
                Ok(()) => waiting += 1,
                Err(WriteError::Full { .. } | WriteError::Capacity(_)) => {}
                Err(error) => self.ledger.complain(error),
            }
            if let Err(error) = topic.write(&Parcel::new(self.me, number).0)
                && !matches!(error, WriteError::Capacity(_))
            {
                self.ledger.complain(error);
            }
            let value = [self.me << 32 | number; 40];
            match &master {
                Some(master) => drop(master.write(&value)),
                None if number.is_multiple_of(16) => match Variable::master_in(space, "variable", &value) {
                    Ok(taken) => master = Some(taken),
                    Err(OpenError::Master { .. } | OpenError::Capacity(_)) => {}
                    Err(error) => self.ledger.complain(error),
                },
                None => {}
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Reads the queue, the topic and the variable that have no nodes.
    fn read(&self, space: &Space) {
        let mut queue = Queue::<[u8]>::open_in(space, "queue").unwrap();
        let mut topic = Topic::<[u8]>::open_in(space, "topic").unwrap();
        let mut variable = Variable::<[u64; 40]>::open_in(space, "variable").unwrap();
        let mut last = 0;
        while self.is_there() {
            for _ in 0..20 {
                match queue.read_within(Duration::from_millis(5)) {
                    Ok(Some(found)) => self.came(Way::Queue, &found.value),
                    Ok(None) => break,
                    // This process was stopped for long; it joins anew.
                    Err(ReadError::CutOff { .. }) => self.ledger.begin_again(Way::Queue),
                    Err(error) => self.ledger.complain(error),
                }
            }
            match topic.read() {
                Ok(Some(found)) => self.came(Way::Latest, &found.value),
                Ok(None) => {}
                Err(error) => self.ledger.complain(error),
            }
            match variable.read() {
                Ok(Some(found)) if found.iter().any(|word| *word != found[0]) => {
                    self.ledger.complain("a torn variable");
                }
                Ok(Some(found)) if found.origin.stamp > last => {
                    last = found.origin.stamp;
                    self.ledger.count(Way::Variable);
                }
                Ok(Some(found)) if found.origin.stamp < last => {
                    self.ledger.complain("an older value of the variable");
                }
                Ok(_) => {}
                Err(error) => self.ledger.complain(error),
            }
        }
    }
}

/// Plays an actor's part, if this process is one.
pub(crate) fn play_if_asked() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let seat = std::env::var(SEAT).unwrap();
    let numbers: Vec<u64> = seat.split(' ').map(|number| number.parse().unwrap()).collect();
    let &[number, seat, seats] = &numbers[..] else { panic!("{seat}") };
    play(&PathBuf::from(place), number, (seat, seats)).unwrap();
}

fn play(base: &Path, me: u64, (seat, seats): (u64, u64)) -> sinew::Result<()> {
    let actor = Arc::new(Actor { me, ledger: Ledger::default(), ends: AtomicBool::new(false) });
    let space = Space::join(&Domain::open(Some(base), DOMAIN).unwrap()).unwrap();
    let context = Context::builder().domain(DOMAIN).directory(base).build()?;
    let node = context.node(&format!("actor_{seat}"))?;

    let lossless = QoS::default().keep_all().max_samples(16).max_blocking_time(HASTE);
    let to = actor.clone();
    let kept = Mutex::new(VecDeque::new());
    let _lossless = node.subscription("lossless").qos(lossless).callback(move |parcel: Shared<Parcel>| {
        to.came(Way::Lossless, &parcel.0);
        let mut kept = kept.lock();
        kept.push_back(parcel);
        if kept.len() > HELD
            && let Some(oldest) = kept.pop_front()
            && Parcel::read(&oldest.0).is_none()
        {
            to.ledger.complain("a message has changed while it was held");
        }
    })?;
    let lossless = node.publisher::<Parcel>("lossless").qos(lossless).create()?;

    let retained = QoS::default().keep_last(10).transient_local();
    let to = actor.clone();
    let group = node.group(());
    let _retained = group
        .subscription("retained")
        .qos(retained)
        .callback(move |(): &mut (), parcel: Unique<Parcel>| to.came(Way::Retained, &parcel.0))?;
    let publisher = node.publisher::<Parcel>("retained").qos(retained).create()?;
    let to = actor.clone();
    let guard = node.guard_condition().callback(move || to.ledger.count(Way::Timers))?;
    let (mut number, to) = (0, actor.clone());
    let _timer = node.timer(Duration::from_millis(2)).callback(move || {
        number += 1;
        guard.trigger();
        match publisher.publish(Parcel::new(me, number)).map_err(|error| error.failure()) {
            Ok(()) | Err(PublishFailure::NoSpace { .. }) => {}
            Err(other) => to.unless_it_ends(other),
        }
    })?;

    let large = QoS::default().best_effort().keep_last(2);
    let viewer = node.subscription::<Image>("large").qos(large).read_in_place().create()?;
    let images = node.publisher::<Image>("large").qos(large).create()?;

    let service = |seat: u64| format!("double_{seat}");
    let _server = node.server::<Numbers>(&service(seat)).callback(|number: &Number| Number(2 * number.0))?;
    let others = (0..seats).filter(|&other| other != seat);
    let clients = others.clone().map(|other| node.client::<Numbers>(&service(other)).create());
    let clients: Vec<_> = clients.collect::<Result<_, _>>()?;
    let _servers = Servers::new(&context, &node, seat)?;
    let protocols = Clients::new(&node, others)?;

    let executor = Executor::multi(2);
    executor.add(&context)?;
    thread::scope(|scope| {
        let spinning = scope.spawn(|| executor.spin());
        scope.spawn(|| actor.publish_lossless(&lossless));
        scope.spawn(|| actor.exchange_large_ones(&images, &viewer));
        scope.spawn(|| actor.call(&clients));
        scope.spawn(|| actor.pursue(&protocols));
        scope.spawn(|| actor.manage(&protocols));
        scope.spawn(|| actor.write(&space));
        scope.spawn(|| actor.read(&space));
        for line in std::io::stdin().lock().lines() {
            match line.as_deref() {
                Ok("report") => println!("\n{SAID}{}", actor.ledger.report()),
                Ok("end") => break,
                _ => std::process::exit(1),
            }
        }
        actor.ends.store(true, Ordering::SeqCst);
        executor.stop_handle().stop();
        spinning.join().unwrap()
    })?;
    drop(space);
    let report = actor.ledger.report();
    assert!(report.ends_with("| "), "{report}");
    context.shutdown();
    println!("\n{SAID}ended");
    Ok(())
}
