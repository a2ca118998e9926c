//! The records in which tools see the callbacks that threads of executors run.

use crate::support;

use sinew::executor::WaitSet;
use sinew::prelude::*;
use sinew::time::Time;
use sinew_shm::inspect::{Busy, Snapshot};
use sinew_shm::{Callback, Domain, EndpointKind, Peer};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use support::{Number, Numbers, Place};

/// Sees from outside what threads are in; can be taken into callbacks.
#[derive(Clone)]
struct Onlooker(PathBuf);

impl Onlooker {
    fn census(&self) -> Snapshot {
        let domain = Domain::find(Some(&self.0), 3).expect("a directory").expect("a domain");
        Snapshot::take(&domain).expect("a census")
    }

    fn busy(&self) -> Vec<Busy> {
        self.census().peers().iter().flat_map(|peer| peer.busy()).collect()
    }

    /// The callbacks, in words.
    fn running(&self) -> Vec<String> {
        let name = |peer: &Peer, callback| {
            let (what, key) = match callback {
                Callback::Of(key) => ("of", key),
                Callback::Timer(key) => ("timer of", key),
                Callback::Other(key) => ("handler of", key),
                _ => return "elsewhere".to_owned(),
            };
            let entities = peer.endpoints();
            let (_, entity) = entities.iter().find(|(other, _)| *other == key).expect("it is there");
            format!("{what} {}", if entity.kind == EndpointKind::Node { &entity.node } else { &entity.name })
        };
        let census = self.census();
        let of = |peer: &std::sync::Arc<Peer>| -> Vec<String> {
            peer.busy().iter().map(|busy| name(peer, busy.callback)).collect()
        };
        census.peers().iter().flat_map(of).collect()
    }
}

/// Returns a callback that sends what its record shows.
fn recorder(onlooker: &Onlooker) -> (impl Fn() + Clone + Send + Sync + 'static, Receiver<Vec<String>>) {
    let (sender, running): (Sender<Vec<String>>, _) = channel();
    let onlooker = onlooker.clone();
    (move || sender.send(onlooker.running()).expect("the test listens"), running)
}

#[test]
fn every_kind_of_callback_is_recorded_while_it_runs() -> sinew::Result<()> {
    let place = Place::new();
    let context = place.context();
    let node = context.node("robot")?;
    let onlooker = Onlooker(place.0.path().to_owned());
    let (record, running) = recorder(&onlooker);
    let (of_numbers, of_guard, of_timer) = (record.clone(), record.clone(), record);
    let _numbers = node.subscription::<Number>("numbers").callback(move |_: &Number| of_numbers())?;
    let guard = node.guard_condition().callback(of_guard)?;
    let executor = Executor::single();
    executor.add(&context)?;
    node.publisher::<Number>("numbers").create()?.publish(Number(1))?;
    assert_eq!(executor.spin_some()?, 1);
    assert_eq!(running.try_iter().collect::<Vec<_>>(), [["of /numbers"]]);
    assert_eq!(onlooker.busy(), [], "it spins no more");
    guard.trigger();
    assert!(executor.spin_once(Duration::ZERO)?);
    assert_eq!(running.try_iter().collect::<Vec<_>>(), [["handler of /robot"]]);
    let _timer = node.timer(Duration::from_millis(1)).callback(of_timer)?;
    assert!(executor.spin_once(Duration::from_secs(60))?);
    assert_eq!(running.try_iter().collect::<Vec<_>>(), [["timer of /robot"]]);
    Ok(())
}

#[test]
fn a_callback_began_after_its_message_was_published() -> sinew::Result<()> {
    let place = Place::new();
    let context = place.context();
    let node = context.node("robot")?;
    let onlooker = Onlooker(place.0.path().to_owned());
    let (sender, seen) = channel();
    let _numbers = node.subscription::<Number>("numbers").callback(move |_: &Number| {
        sender.send((onlooker.busy(), Time::steady())).expect("the test listens");
    })?;
    let numbers = node.publisher::<Number>("numbers").create()?;
    let executor = Executor::multi(2);
    executor.add(&context)?;
    // Enough for the executor to stop measuring each.
    for number in 0..40 {
        let published = Time::steady();
        numbers.publish(Number(number))?;
        assert_eq!(executor.spin_some()?, 1);
        let (busy, now) = seen.recv().expect("it ran");
        let [busy] = busy[..] else { panic!("{busy:?}") };
        assert!((published.nanoseconds()..=now.nanoseconds()).contains(&busy.since), "{number}: {busy:?}");
        assert_eq!(busy.worker, 0);
    }
    Ok(())
}

#[test]
fn a_wait_set_and_an_executor_with_a_timer_thread_keep_records_too() -> sinew::Result<()> {
    let place = Place::new();
    let context = place.context();
    let (one, other) = (context.node("one")?, context.node("other")?);
    let onlooker = Onlooker(place.0.path().to_owned());
    let (record, running) = recorder(&onlooker);
    let of_timer = record.clone();
    let _numbers = one.subscription::<Number>("numbers").callback(move |_: &Number| record())?;
    let mut set = WaitSet::new();
    set.add(&one)?;
    one.publisher::<Number>("numbers").create()?.publish(Number(1))?;
    for ready in set.wait(Duration::MAX)? {
        assert!(ready.run()?);
    }
    assert_eq!((running.recv().expect("it ran"), onlooker.busy()), (vec!["of /numbers".to_owned()], vec![]));

    let (sender, ran) = channel();
    let _timer = other.timer(Duration::from_millis(1)).callback(move || {
        of_timer();
        let _ = sender.send(()); // until the test has seen enough
    })?;
    let executor = Executor::builder().threads(2).timer_thread(true).build()?;
    executor.add(&other)?;
    executor.spin_until(async {
        // The spin is what runs the timer: it ends as soon as it has.
        std::future::poll_fn(|context| match ran.try_recv() {
            Ok(()) => std::task::Poll::Ready(()),
            Err(_) => {
                context.waker().wake_by_ref();
                std::task::Poll::Pending
            }
        })
        .await;
    })?;
    assert_eq!(running.recv().expect("it ran"), ["timer of /other"]);
    assert_eq!(onlooker.busy(), [], "all have ended");
    Ok(())
}

#[test]
fn a_callback_inside_another_one_leaves_the_record_of_the_outer_one() -> sinew::Result<()> {
    let place = Place::new();
    let context = place.context();
    let (outer, inner) = (context.node("outer")?, context.node("inner")?);
    let onlooker = Onlooker(place.0.path().to_owned());
    let (record, running) = recorder(&onlooker);
    let _double = inner.server::<Numbers>("double").callback(move |number: &Number| {
        record();
        Number(number.0 * 2)
    })?;
    let double = outer.client::<Numbers>("double").create()?;
    let _numbers = outer
        .subscription::<Number>("numbers")
        .callback(move |number: &Number| double.call(Number(number.0), Duration::from_secs(60)).map(drop))?;
    let executor = Executor::single();
    executor.add(&context)?;
    outer.publisher::<Number>("numbers").create()?.publish(Number(1))?;
    assert_eq!(executor.spin_some()?, 1);
    assert_eq!(running.recv().expect("it ran"), ["of /numbers"]);
    Ok(())
}

#[test]
fn an_executor_keeps_records_of_the_next_context_after_one_is_gone() -> sinew::Result<()> {
    let place = Place::new();
    let onlooker = Onlooker(place.0.path().to_owned());
    let (record, running) = recorder(&onlooker);
    let executor = Executor::single();
    for _ in 0..3 {
        let context = place.context();
        let node = context.node("robot")?;
        let record = record.clone();
        let guard = node.guard_condition().callback(record)?;
        executor.add(&context)?;
        guard.trigger();
        assert_eq!(executor.spin_some()?, 1);
        assert_eq!(running.try_iter().collect::<Vec<_>>(), [["handler of /robot"]]);
        drop((guard, node, context));
    }
    Ok(())
}

#[test]
fn without_shared_memory_nothing_is_recorded() -> sinew::Result<()> {
    let place = Place::new();
    let seen = place.context();
    let _seen = seen.node("seen")?;
    let context = Context::builder().shared_memory(false).build()?;
    let node = context.node("robot")?;
    let (record, running) = recorder(&Onlooker(place.0.path().to_owned()));
    let guard = node.guard_condition().callback(record)?;
    let executor = Executor::single();
    executor.add(&context)?;
    guard.trigger();
    assert_eq!(executor.spin_some()?, 1);
    assert_eq!(running.recv().expect("it ran"), [""; 0]);
    Ok(())
}
