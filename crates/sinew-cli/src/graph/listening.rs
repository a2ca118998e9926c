//! Listening to topics: a subscription to each type that their publishers have, whatever it is.
//!
//! They never make a publisher wait.

use std::collections::HashSet;
use std::time::Duration;

use sinew::error::SpinError;
use sinew::executor::WaitSet;
use sinew::graph::{EndpointInfo, EndpointKind, GraphSnapshot};
use sinew::msg::{GenericType, SerializedMessage, TypeHash};
use sinew::time::Time;
use sinew::{Context, ContextBuilder, MessageInfo, QoS, Subscription};
use sinew_bench::clock::now_ns;

use crate::cli::tools::Where;
use crate::error::Error;
use crate::observed::Observed;
use crate::output::says;
use crate::similar::{self, suggestion};

/// Most messages that a subscription hands over before the others, and the time, get their turn.
const AT_ONCE: usize = 64;

/// What a command does with the messages.
pub(super) trait Listener {
    /// What it knows about the messages of a subscription.
    type Known;

    /// Returns the QoS of a subscription to this publisher.
    fn qos(&self, publisher: &EndpointInfo) -> QoS;

    /// Looks at the publisher's type, before a subscription to it is made.
    fn know(&mut self, publisher: &EndpointInfo, hash: TypeHash) -> Result<Self::Known, Error>;

    /// Takes a message. Returns `false` if no more are wanted.
    fn take(&mut self, known: &Self::Known, encoded: &[u8], info: &MessageInfo) -> Result<bool, Error>;
}

/// Says that a topic has no publisher yet, if so.
pub(super) fn say_if_unpublished(observed: &Observed, seen: &GraphSnapshot, name: &str) {
    if seen.publishers(name).next().is_none() {
        let publishers = seen.endpoints().iter().filter(|end| end.kind == EndpointKind::Publisher);
        let similar = suggestion(&similar::to(name, publishers.map(|end| end.name.as_str())));
        let domain = observed.domain();
        says(&format!("{name} has no publisher in domain {domain} yet: waiting{similar}"));
    }
}

/// Returns the builder of a context of this domain.
pub(super) fn context(place: &Where, domain: u32) -> ContextBuilder {
    let builder = Context::builder().domain(domain);
    match &place.dir {
        Some(directory) => builder.directory(directory),
        None => builder,
    }
}

/// Returns the current time, in nanoseconds since the epoch.
pub(super) fn wall_ns() -> u64 {
    u64::try_from(Time::wall().nanoseconds()).unwrap_or_default()
}

/// Returns the time of a message, in nanoseconds since the epoch: that of its publication, or, for
/// one of another host, that of its arrival at this one.
pub(super) fn published_ns(info: &MessageInfo) -> u64 {
    let received = u64::try_from(info.reception_time().nanoseconds()).unwrap_or_default();
    received.saturating_sub(u64::try_from(info.latency().as_nanos()).unwrap_or(u64::MAX))
}

/// The subscriptions.
pub(super) struct Listening<L: Listener> {
    node: sinew::Node,
    set: WaitSet,
    /// The known types, by topic, name and hash.
    known: HashSet<(String, String, Option<TypeHash>)>,
    ends: Vec<(Subscription<SerializedMessage>, L::Known)>,
    /// Dropped last.
    _context: Context,
}

impl<L: Listener> Listening<L> {
    /// `tool`: the command, for the name of its node.
    pub(super) fn new(context: Context, tool: &str) -> Result<Self, Error> {
        let node = context.node(&format!("_sinew_{tool}_{}", std::process::id()))?;
        let set = WaitSet::new();
        set.add(&context)?; // the clock
        Ok(Self { node, set, known: HashSet::new(), ends: Vec::new(), _context: context })
    }

    pub(super) fn node(&self) -> &sinew::Node {
        &self.node
    }

    /// Subscribes to the types of a topic's new publishers.
    pub(super) fn subscribe(
        &mut self,
        name: &str,
        seen: &GraphSnapshot,
        listener: &mut L,
    ) -> Result<(), Error> {
        let own = self.node.full_name().to_owned();
        for publisher in seen.publishers(name).filter(|publisher| publisher.node != own) {
            let EndpointInfo { type_name, type_hash, .. } = publisher;
            if self.known.insert((name.to_owned(), type_name.clone(), *type_hash)) {
                self.add(publisher, listener)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, publisher: &EndpointInfo, listener: &mut L) -> Result<(), Error> {
        let EndpointInfo { name, node, type_name, type_hash, .. } = publisher;
        let Some(hash) = type_hash.filter(|_| publisher.leaves_process()) else {
            let (name, node, type_name) = (name.clone(), node.clone(), type_name.clone());
            return Err(Error::StaysInside { name, node, type_name });
        };
        let known = listener.know(publisher, hash)?;
        let generic = GenericType::new(type_name, hash)?;
        let qos = listener.qos(publisher);
        let subscription = self.node.generic_subscription(name, generic).qos(qos).create()?;
        self.set.add_subscription(&subscription)?;
        self.ends.push((subscription, known));
        Ok(())
    }

    /// Hands over arriving messages until that time. Returns `false` if it has to end: no more are
    /// wanted, or the user pressed Ctrl-C and the context listens to that.
    pub(super) fn listen_until(&mut self, due_ns: i64, listener: &mut L) -> Result<bool, Error> {
        while let Ok(left @ 1..) = u64::try_from(due_ns - now_ns()) {
            match self.set.wait(Duration::from_nanos(left)) {
                // The context's own subscriptions; the messages of the others are taken below.
                Ok(ready) => {
                    for ready in ready {
                        if !self.ends.iter().any(|(end, _)| ready.is(end)) {
                            ready.run()?;
                        }
                    }
                }
                Err(SpinError::Stopped) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            for (end, known) in &self.ends {
                // Messages may come faster than they are handled: those that stay here are ready at
                // the next wait. Once the time has come, each subscription hands over at most one.
                for _ in 0..AT_ONCE {
                    let Some((message, info)) = end.take_sample() else { break };
                    if !listener.take(known, message.bytes(), &info)? {
                        return Ok(false);
                    }
                    if now_ns() >= due_ns {
                        break;
                    }
                }
            }
        }
        Ok(true)
    }

    /// Returns the number of messages that came too fast, or were lost on the way.
    pub(super) fn lost(&self) -> u64 {
        let statistics = self.ends.iter().map(|(end, _)| end.statistics());
        statistics.map(|statistics| statistics.overwritten + statistics.missed).sum()
    }
}

#[cfg(test)]
mod tests {
    use sinew::Publisher;
    use sinew_interfaces::sensor_msgs::msg::Temperature;

    use super::*;

    /// Gets another message with each that it takes, so that there is always one.
    struct Slow {
        publisher: Publisher<Temperature>,
        taken: usize,
    }

    /// More than are taken in a moment.
    const ENDLESS: usize = 200_000;

    impl Listener for Slow {
        type Known = ();

        fn qos(&self, _: &EndpointInfo) -> QoS {
            QoS::new().keep_last(8)
        }

        fn know(&mut self, _: &EndpointInfo, _: TypeHash) -> Result<(), Error> {
            Ok(())
        }

        fn take(&mut self, (): &(), _: &[u8], _: &MessageInfo) -> Result<bool, Error> {
            self.taken += 1;
            self.publisher.publish(Temperature::default()).unwrap();
            Ok(self.taken < ENDLESS)
        }
    }

    #[test]
    fn a_listener_that_is_slower_than_its_publisher_ends_in_time() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path().to_str().unwrap();
        let place = Where::in_words(&["--dir", path, "--domain", "0"].map(str::to_owned));
        let robot = context(&place, 0).build().unwrap();
        let publisher = robot.node("sensor").unwrap().publisher("warm").create().unwrap();
        let mut slow = Slow { publisher, taken: 0 };
        let mut listening = Listening::new(context(&place, 0).build().unwrap(), "test").unwrap();
        let seen = Observed::open(&place).unwrap().read().unwrap();
        listening.subscribe("/warm", &seen, &mut slow).unwrap();
        while slow.taken == 0 {
            slow.publisher.publish(Temperature::default()).unwrap();
            assert!(listening.listen_until(now_ns() + 1_000_000, &mut slow).unwrap());
        }
    }
}
