//! Publishers, subscriptions and an executor against a list per subscription: the recipients of
//! each message, their order, and the statistics.

use crate::error::PublishFailure;
use crate::msg::BufferType;
use crate::time::{Time, VirtualClock};
use crate::{Context, Duration, Executor, Message, Node, Publisher, QoS, Shared, Subscription, Unique};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::VecDeque;
use std::sync::mpsc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbered {
    number: u64,
    /// Owners write here: no other holder may see it.
    spoilt: bool,
}

impl Message for Numbered {}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Policies {
    reliable: bool,
    transient_local: bool,
    keep_all: bool,
    room: usize,
    lifespan: Option<u8>,
}

impl Policies {
    fn qos(self) -> QoS {
        // Returns an error at once instead of a wait that only this thread could end.
        let qos = QoS::new().max_blocking_time(Duration::ZERO);
        let qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        let qos = if self.transient_local { qos.transient_local() } else { qos };
        let qos =
            if self.keep_all { qos.keep_all().max_samples(self.room) } else { qos.keep_last(self.room) };
        self.lifespan.map_or(qos, |lifespan| qos.lifespan(Duration::from_nanos(lifespan.into())))
    }

    fn waits(self) -> bool {
        self.reliable && self.keep_all
    }

    fn lifespan(self) -> i64 {
        self.lifespan.map_or(i64::MAX, i64::from)
    }
}

/// How a subscription takes its messages.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Taker {
    ByHand,
    Reads,
    Shares,
    Owns,
    OwnsFromShared,
    OwnsByValue,
    MovesOut,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Value,
    Loan,
    Reference,
    Boxed,
    Unique,
    Shared,
    /// Shared; the test keeps a reference until the end.
    Kept,
}

#[derive(Debug, Clone)]
enum Operation {
    AddPublisher { policies: Policies },
    DropPublisher { publisher: Index },
    AddSubscription { policies: Policies, taker: Taker, even_only: bool },
    DropSubscription { subscription: Index },
    Publish { publisher: Index, form: Form },
    Spin,
    Take { subscription: Index },
    Wait { time: u8 },
}

fn policies() -> impl Strategy<Value = Policies> {
    let lifespan = prop::option::weighted(0.2, 1..12_u8);
    let flags = (prop::bool::weighted(0.8), prop::bool::weighted(0.4), prop::bool::weighted(0.3));
    (flags, 1..5_usize, lifespan).prop_map(|((reliable, transient_local, keep_all), room, lifespan)| {
        Policies { reliable, transient_local, keep_all, room, lifespan }
    })
}

fn taker() -> impl Strategy<Value = Taker> {
    use Taker::{ByHand, MovesOut, Owns, OwnsByValue, OwnsFromShared, Reads, Shares};
    prop::sample::select(vec![ByHand, ByHand, Reads, Shares, Owns, OwnsFromShared, OwnsByValue, MovesOut])
}

fn form() -> impl Strategy<Value = Form> {
    use Form::{Boxed, Kept, Loan, Reference, Shared, Unique, Value};
    prop::sample::select(vec![Value, Loan, Reference, Boxed, Unique, Shared, Kept])
}

fn operation() -> impl Strategy<Value = Operation> {
    let index = any::<Index>;
    prop_oneof![
        2 => policies().prop_map(|policies| Operation::AddPublisher { policies }),
        1 => index().prop_map(|publisher| Operation::DropPublisher { publisher }),
        3 => (policies(), taker(), prop::bool::weighted(0.2))
            .prop_map(|(policies, taker, even_only)| Operation::AddSubscription { policies, taker, even_only }),
        1 => index().prop_map(|subscription| Operation::DropSubscription { subscription }),
        14 => (index(), form()).prop_map(|(publisher, form)| Operation::Publish { publisher, form }),
        4 => Just(Operation::Spin),
        4 => index().prop_map(|subscription| Operation::Take { subscription }),
        3 => (0..8_u8).prop_map(|time| Operation::Wait { time }),
    ]
}

/// A publication as the oracle sees it. `number` also gives the order in time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Publication {
    number: u64,
    time: i64,
    expires: i64,
}

struct Source {
    publisher: Publisher<Numbered>,
    policies: Policies,
    published: u64,
    retained: VecDeque<Publication>,
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    received: u64,
    taken: u64,
    waiting: u64,
    overwritten: u64,
    refused: u64,
    expired: u64,
}

struct Sink {
    subscription: Subscription<Numbered>,
    id: usize,
    policies: Policies,
    taker: Taker,
    even_only: bool,
    waiting: VecDeque<Publication>,
    /// The key under which the executor has it ready.
    key: Option<u64>,
    counts: Counts,
}

impl Sink {
    fn matches(&self, offered: Policies) -> bool {
        (offered.reliable || !self.policies.reliable)
            && (offered.transient_local || !self.policies.transient_local)
    }

    fn wants(&self, number: u64) -> bool {
        !self.even_only || number.is_multiple_of(2)
    }

    fn full(&self) -> bool {
        self.waiting.len() >= self.policies.room
    }

    /// Removes the first one that has expired.
    fn expire_one(&mut self, now: i64) -> bool {
        let index = self.waiting.iter().position(|publication| publication.expires <= now);
        index.is_some_and(|index| {
            self.counts.expired += 1;
            self.waiting.remove(index).is_some()
        })
    }

    fn receive(&mut self, mut publication: Publication) {
        publication.expires =
            publication.expires.min(publication.time.saturating_add(self.policies.lifespan()));
        if self.full() && !self.expire_one(publication.time) {
            if self.policies.keep_all {
                self.counts.refused += 1;
                return;
            }
            self.counts.overwritten += 1;
            self.waiting.pop_front();
        }
        self.counts.received += 1;
        self.waiting.push_back(publication);
        if self.taker != Taker::ByHand {
            self.key.get_or_insert(publication.number);
        }
    }

    fn take(&mut self, now: i64) -> Option<u64> {
        while let Some(publication) = self.waiting.pop_front() {
            if publication.expires > now {
                self.counts.taken += 1;
                return Some(publication.number);
            }
            self.counts.expired += 1;
        }
        None
    }

    #[track_caller]
    fn check_statistics(&mut self) {
        self.counts.waiting = self.waiting.len() as u64;
        let statistics = self.subscription.statistics();
        let counts = Counts {
            received: statistics.received,
            taken: statistics.taken,
            waiting: statistics.waiting,
            overwritten: statistics.overwritten,
            refused: statistics.refused,
            expired: statistics.expired,
        };
        assert_eq!(counts, self.counts, "{:?}", self.policies);
        assert_eq!(counts.received, counts.taken + counts.overwritten + counts.expired + counts.waiting);
    }
}

struct Pair {
    clock: VirtualClock,
    node: Node,
    executor: Executor,
    _context: Context,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    kept: Vec<(Shared<Numbered>, u64)>,
    published: u64,
    entities: usize,
    /// The messages that callbacks received, with the subscription's id.
    report: mpsc::Sender<(usize, Numbered)>,
    reports: mpsc::Receiver<(usize, Numbered)>,
}

impl Pair {
    fn new() -> Self {
        let clock = VirtualClock::new();
        let context = Context::builder()
            .shared_memory(false)
            .domain(0)
            .virtual_time(&clock)
            .build()
            .expect("no arguments");
        let node = context.node("node").expect("a valid name");
        let executor = Executor::single();
        executor.add(&context).expect("no other executor serves it");
        let (report, reports) = mpsc::channel();
        Self {
            clock,
            node,
            executor,
            _context: context,
            sources: Vec::new(),
            sinks: Vec::new(),
            kept: Vec::new(),
            published: 0,
            entities: 0,
            report,
            reports,
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().nanoseconds()
    }

    fn run(&mut self, operation: Operation) {
        match operation {
            Operation::AddPublisher { policies } => {
                let publisher =
                    self.node.publisher("topic").qos(policies.qos()).create().expect("all is fine");
                self.sources.push(Source { publisher, policies, published: 0, retained: VecDeque::new() });
            }
            Operation::DropPublisher { publisher } if !self.sources.is_empty() => {
                self.sources.swap_remove(publisher.index(self.sources.len()));
            }
            Operation::AddSubscription { policies, taker, even_only } => {
                self.subscribe(policies, taker, even_only)
            }
            Operation::DropSubscription { subscription } if !self.sinks.is_empty() => {
                self.sinks.remove(subscription.index(self.sinks.len()));
            }
            Operation::Publish { publisher, form } if !self.sources.is_empty() => {
                let source = publisher.index(self.sources.len());
                self.publish(source, form);
            }
            Operation::Spin => self.spin(),
            Operation::Take { subscription } if !self.sinks.is_empty() => {
                let now = self.now();
                let sink = subscription.index(self.sinks.len());
                let sink = &mut self.sinks[sink];
                let got = sink.subscription.take().map(|(message, _)| *message);
                let expected = sink.take(now).map(|number| Numbered { number, spoilt: false });
                assert_eq!(got, expected);
            }
            Operation::Wait { time } => self.clock.set(Time::from_nanoseconds(self.now() + i64::from(time))),
            Operation::DropPublisher { .. }
            | Operation::DropSubscription { .. }
            | Operation::Publish { .. }
            | Operation::Take { .. } => {}
        }
        self.sinks.iter_mut().for_each(Sink::check_statistics);
        for source in &self.sources {
            let statistics = source.publisher.statistics();
            assert_eq!(
                (statistics.published, statistics.retained),
                (source.published, source.retained.len() as u64)
            );
            let matching = self.sinks.iter().filter(|sink| sink.matches(source.policies)).count();
            assert_eq!(source.publisher.subscription_count(), matching);
        }
    }

    fn subscribe(&mut self, policies: Policies, taker: Taker, even_only: bool) {
        let id = self.entities;
        self.entities += 1;
        let report = self.report.clone();
        let send = move |message: Numbered| report.send((id, message)).expect("it is read in the end");
        let mut builder = self.node.subscription::<Numbered>("topic").qos(policies.qos());
        if even_only {
            builder = builder.filter(|message: &Numbered| message.number.is_multiple_of(2));
        }
        let own = move |mut message: Unique<Numbered>| {
            send(*message);
            message.spoilt = true;
        };
        let report = self.report.clone();
        let send = move |message: Numbered| report.send((id, message)).expect("it is read in the end");
        let subscription = match taker {
            Taker::ByHand => builder.create(),
            Taker::Reads => builder.callback(move |message: &Numbered| send(*message)),
            Taker::Shares => builder.callback(move |message: Shared<Numbered>| send(*message)),
            Taker::Owns => builder.callback(own),
            Taker::OwnsFromShared => builder.buffer(BufferType::Shared).callback(own),
            Taker::OwnsByValue => builder.buffer(BufferType::Value).callback(own),
            Taker::MovesOut => builder.callback(move |message: Numbered| send(message)),
        };
        let (waiting, counts) = (VecDeque::new(), Counts::default());
        let subscription = subscription.expect("all is fine");
        let mut sink = Sink { subscription, id, policies, taker, even_only, waiting, key: None, counts };
        if policies.transient_local {
            self.join(&mut sink);
        }
        self.sinks.push(sink);
    }

    /// A late joiner gets the newest of all messages that its publishers retain, in order of time,
    /// none expired.
    fn join(&self, sink: &mut Sink) {
        let now = self.now();
        let sources = self.sources.iter().filter(|source| sink.matches(source.policies));
        let mut retained: Vec<_> = sources.flat_map(|source| source.retained.iter().copied()).collect();
        for publication in &mut retained {
            let expires = publication.time.saturating_add(sink.policies.lifespan());
            publication.expires = publication.expires.min(expires);
        }
        retained.retain(|publication| publication.expires > now && sink.wants(publication.number));
        retained.sort_by_key(|publication| publication.number);
        retained.drain(..retained.len().saturating_sub(sink.policies.room));
        sink.counts.received = retained.len() as u64;
        sink.waiting = retained.into();
        if sink.taker != Taker::ByHand {
            sink.key = sink.waiting.front().map(|publication| publication.number);
        }
    }

    fn publish(&mut self, source: usize, form: Form) {
        let number = self.published + 1;
        let message = Numbered { number, spoilt: false };
        let now = self.now();
        let source = &mut self.sources[source];
        let publisher = &source.publisher;
        let result = match form {
            Form::Value => publisher.publish(message),
            Form::Loan => {
                let mut loan = publisher.loan();
                *loan = message;
                publisher.publish(loan)
            }
            Form::Reference => {
                let reference = &message;
                publisher.publish(reference)
            }
            Form::Boxed => publisher.publish(Box::new(message)),
            Form::Unique => publisher.publish(Unique::new(message)),
            Form::Shared => publisher.publish(Shared::new(message)),
            Form::Kept => {
                let kept = Shared::new(message);
                self.kept.push((kept.clone(), number));
                publisher.publish(kept)
            }
        };
        // Every reader that may block this publisher needs room, or none gets the message; checked
        // in the order of creation.
        let policies = source.policies;
        let mut fits = true;
        for sink in self.sinks.iter_mut().filter(|sink| sink.matches(policies) && sink.wants(number)) {
            if fits && policies.waits() && sink.policies.waits() {
                fits = !sink.full() || sink.expire_one(now);
            }
        }
        if let Err(error) = &result {
            assert!(matches!(error.failure(), PublishFailure::Full { .. } | PublishFailure::WouldDeadlock));
            assert_eq!(
                *result
                    .map_err(|error| error.into_message().into_shared().expect("a value"))
                    .expect_err("it is"),
                message
            );
            assert!(!fits, "there was room for {message:?}");
            return;
        }
        assert!(fits, "there was no room for {message:?}");
        self.published = number;
        source.published += 1;
        let publication = Publication { number, time: now, expires: now.saturating_add(policies.lifespan()) };
        if policies.transient_local {
            if source.retained.len() >= policies.room {
                source.retained.pop_front();
            }
            source.retained.push_back(publication);
        }
        for sink in self.sinks.iter_mut().filter(|sink| sink.matches(policies) && sink.wants(number)) {
            sink.receive(publication);
        }
    }

    /// The executor runs everything that is ready; the oracle follows, and checks at each step
    /// whether the callback was one of the oldest.
    fn spin(&mut self) {
        self.executor.spin_all(Duration::from_secs(60)).expect("no callback fails");
        let now = self.now();
        let reports: Vec<_> = self.reports.try_iter().collect();
        let mut reports = reports.into_iter();
        let mut next = reports.next();
        loop {
            let first = self.sinks.iter().filter_map(|sink| sink.key).min();
            let Some(first) = first else { break };
            // Several may be ready under one key; their order is not guaranteed, and subscriptions
            // with only expired messages run no callback.
            let reported = next.map(|(id, _)| id);
            let at_first = |sink: &&mut Sink| sink.key == Some(first);
            let silent = |sink: &Sink| sink.waiting.iter().all(|publication| publication.expires <= now);
            let mut candidates = self.sinks.iter_mut().filter(at_first);
            let sink = candidates.find(|sink| silent(sink) || Some(sink.id) == reported);
            let Some(sink) = sink else { panic!("{next:?} was next, but not one of those ready at {first}") };
            if let Some(number) = sink.take(now) {
                let (id, message) = next.take().expect("a callback is missing");
                assert_eq!((id, message), (sink.id, Numbered { number, spoilt: false }));
                next = reports.next();
            }
            sink.key = sink.waiting.front().map(|publication| publication.number);
        }
        assert_eq!(next, None, "a callback too many");
    }
}

impl Default for Numbered {
    fn default() -> Self {
        Self { number: u64::MAX, spoilt: true }
    }
}

proptest! {
    #[test]
    fn everybody_gets_what_is_theirs(operations in vec(operation(), 0..150)) {
        let mut pair = Pair::new();
        operations.into_iter().for_each(|operation| pair.run(operation));
        pair.run(Operation::Spin);
        for (kept, number) in &pair.kept {
            prop_assert_eq!(**kept, Numbered { number: *number, spoilt: false });
        }
    }
}
