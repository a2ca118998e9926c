//! What others see of a node's ends without its knowing: their counters.
#![expect(clippy::disallowed_methods, reason = "other participants' threads are waited for in real time")]

use crate::support;

use sinew::prelude::*;
use sinew_shm::Counter::{Copies, Matched, Messages, Missed, Overwritten, Refused, Taken, Waiting};
use sinew_shm::EndpointKind::{Client, Publisher, Server, Subscription};
use support::outside::Onlooker;
use support::{Number, Numbers};

const PATIENCE: Duration = Duration::from_secs(60);

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").expect("shared memory"))
    }

    fn context(&self) -> Context {
        Context::builder().domain(3).directory(self.0.path()).build().expect("a context")
    }
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::yield_now();
    }
}

#[test]
fn of_publishers_and_subscriptions() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let (near, far) = (one.node("near")?, other.node("far")?);
    let retaining = QoS::default().keep_last(3).transient_local();
    let publisher = near.publisher::<Number>("numbers").qos(retaining).create()?;
    let local = near.subscription::<Number>("numbers").qos(QoS::default().keep_last(2)).create()?;
    let owner = near.subscription("numbers").callback(|_: Number| {})?;
    let away = far.subscription::<Number>("numbers").qos(QoS::default().keep_last(1)).create()?;
    assert!(publisher.wait_for_subscribers(3, PATIENCE));
    until("it is known there", || away.publisher_count() == 1);
    let onlooker = Onlooker::join(place.0.path(), 3);
    let publishes = |counter| onlooker.count(Publisher, "/numbers", "/near", counter);
    let receives = |counter| onlooker.count(Subscription, "/numbers", "/far", counter);
    assert_eq!((publishes(Matched), publishes(Copies), publishes(Waiting)), (3, 0, 0));
    assert_eq!((receives(Matched), receives(Missed)), (1, 0));
    for number in 0..5 {
        publisher.publish(Number(number))?;
    }
    // The thread that found out about the publisher may be reading still: then an older one is
    // there first.
    let mut takes = 0;
    let mut taken = std::iter::repeat_with(|| away.take()).flatten().inspect(|_| takes += 1);
    taken.find(|(number, _)| number.0 == 4).expect("it comes");
    drop(taken);
    assert_eq!((publishes(Messages), publishes(Waiting), publishes(Missed)), (5, 3, 0));
    assert_eq!(publishes(Copies), publisher.statistics().copies);
    assert!(publishes(Copies) >= 5, "one each for who owns it");
    // Which of both depends on whether another thread has brought one in before the next one came.
    let lost = receives(Missed) + receives(Overwritten);
    assert_eq!((receives(Messages), receives(Taken), lost), (5, takes, 5 - takes));
    assert_eq!(away.statistics().overwritten, 5 - takes, "either way it is lost");
    drop(owner);
    let nears: Vec<u64> = onlooker
        .find(Subscription, "/numbers", "/near")
        .iter()
        .map(|(peer, key)| peer.counts(*key).expect("it is there").get(Overwritten))
        .collect();
    assert_eq!(nears, [3]);
    let kept = publisher.loan().into_shared();
    publisher.publish(kept.clone())?;
    while local.take_unique().is_some() {}
    let copies = onlooker.count(Subscription, "/numbers", "/near", Copies);
    assert_eq!(copies, local.statistics().copies);
    assert!(copies > 0, "others hold it, too");
    drop(away);
    until("its end is noticed", || publishes(Matched) == 1);
    drop(publisher);
    assert_eq!(onlooker.count(Subscription, "/numbers", "/near", Matched), 0);
    Ok(())
}

#[test]
fn of_services() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let client = asking.node("asker")?.client::<Numbers>("double").create()?;
    let onlooker = Onlooker::join(place.0.path(), 3);
    let asks = |counter| onlooker.count(Client, "/double", "/asker", counter);
    let serves = |counter| onlooker.count(Server, "/double", "/server", counter);
    assert_eq!((asks(Matched), asks(Messages)), (0, 0));
    let node = serving.node("server")?;
    let server = node.server::<Numbers>("double").max_requests(2).callback(|n: &Number| match n.0 {
        0 => Err("nothing to double".to_owned()),
        n => Ok(Number(2 * n)),
    })?;
    let near = node.client::<Numbers>("double").create()?;
    assert!(client.wait_for_server(PATIENCE));
    until("others see it, too", || (asks(Matched), serves(Matched)) == (1, 1)); // a moment later
    // Two fit.
    let waiting: Vec<_> = (0..2).map(|number| near.call_async(Number(number))).collect();
    assert_eq!((serves(Messages), serves(Waiting), serves(Taken), serves(Refused)), (2, 2, 0, 0));
    assert!(near.call(Number(3), PATIENCE).is_err(), "there is no third place");
    assert_eq!((serves(Messages), serves(Refused)), (2, 1));
    let spinning = {
        let context = serving.clone();
        std::thread::spawn(move || sinew::spin(&context))
    };
    until("there is room again", || serves(Waiting) == 0);
    assert_eq!(client.call(Number(21), PATIENCE)?.0, 42);
    assert!(client.call(Number(0), PATIENCE).is_err());
    drop(waiting);
    assert_eq!((asks(Messages), asks(Taken), asks(Refused), asks(Waiting)), (2, 1, 1, 0));
    until("all are taken", || serves(Waiting) == 0);
    assert_eq!((serves(Messages), serves(Taken)), (4, 4));
    assert_eq!(serves(Matched), 2, "it was called from elsewhere");
    drop((server, near));
    until("its end is noticed", || asks(Matched) == 0);
    serving.shutdown();
    spinning.join().expect("no panic")?;
    Ok(())
}
