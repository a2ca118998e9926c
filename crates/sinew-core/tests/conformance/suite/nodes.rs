//! Which nodes there are: as long as anything of them is.
#![expect(clippy::disallowed_types, reason = "a slot that the test empties; nothing here is modelled")]

use super::stage::{Setting, Stage};
use super::support::{Log, Number, Numbers, Text};
use sinew::GuardCondition;
use sinew::prelude::*;
use sinew_shm::EndpointKind;
use std::any::Any;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

/// Whatever keeps a node, with its name.
type Kept = (&'static str, Box<dyn Any>);

/// One thing of a node after the other.
fn kinds() -> Vec<fn(&Node) -> sinew::Result<Kept>> {
    fn kept(name: &'static str, what: impl Any) -> sinew::Result<Kept> {
        Ok((name, Box::new(what)))
    }
    vec![
        |node| kept("the node", node.clone()),
        |node| kept("a publisher", node.publisher::<Number>("numbers").create()?),
        |node| kept("its clone", node.publisher::<Number>("numbers").create()?.clone()),
        |node| kept("a publisher with a handler", node.publisher::<Number>("n").on_matched(|| ()).create()?),
        |node| kept("a subscription to take from", node.subscription::<Number>("numbers").create()?),
        |node| kept("a subscription", node.subscription("numbers").callback(|_: &Number| ())?),
        |node| kept("a timer", node.timer(Duration::from_secs(3600)).callback(|| ())?),
        |node| kept("a server", node.server::<Numbers>("s").callback(|n: &Number| n.clone())?),
        |node| {
            kept(
                "a server of futures",
                node.server::<Numbers>("s").async_callback(|n: Number| async move { n })?,
            )
        },
        |node| kept("a client", node.client::<Numbers>("s").create()?),
        |node| kept("a call", node.client::<Numbers>("s").create()?.call_async(Number(1))),
        |node| kept("a guard condition", node.guard_condition().callback(|| ())?),
        |node| {
            let (near, far) = UnixStream::pair().expect("there is room for sockets");
            let source = node.descriptor(&near).callback(|| ())?;
            kept("a descriptor source", (source, near, far))
        },
        |node| kept("a group", node.group(())),
        |node| kept("a reentrant group", node.reentrant_group()),
    ]
}

pub(crate) fn a_node_is_listed_as_long_as_anything_of_it_is_there(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let onlooker = setting.path.onlooker();
    let is_listed = || !onlooker.find(EndpointKind::Node, "", "/kept").is_empty();
    for make in kinds() {
        let node = stage.receiving.node("kept")?;
        let (what, entity) = make(&node)?;
        drop(node);
        assert!(is_listed(), "{what} keeps its node");
        drop(entity);
        assert!(!is_listed(), "{what} was the last");
    }
    // What a group makes keeps the group's node.
    let node = stage.receiving.node("kept")?;
    let timer = node.group(()).timer(Duration::from_secs(3600)).callback(|| ())?;
    drop(node);
    assert!(is_listed());
    drop(timer);
    assert!(!is_listed());
    Ok(())
}

/// What is of no use without its handle but for what happens by itself.
pub(crate) fn what_is_detached_goes_on_until_its_context_is_shut_down(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, held) = (Log::new(), Arc::new(()));
    let capture = || {
        let (pen, held) = (log.pen(), held.clone());
        move |what: &'static str| {
            assert!(Arc::strong_count(&held) > 1);
            pen.write(what);
        }
    };
    {
        let node = stage.receiving.node("detached")?;
        let received = capture();
        node.subscription("numbers").callback(move |_: &Number| received("subscription"))?.detach();
        let called = capture();
        node.server::<Numbers>("double")
            .callback(move |n: &Number| {
                called("server");
                Number(2 * n.0)
            })?
            .detach();
        let (elapsed, once, context) = (capture(), Mutex::new(false), stage.receiving.clone());
        node.timer(Duration::from_millis(1))
            .callback(move || {
                // A handle to its context: only the shutdown ends it.
                if !std::mem::replace(&mut *once.lock().unwrap(), true) && !context.is_shutdown() {
                    elapsed("timer");
                }
            })?
            .detach();
        let answered = capture();
        let client = node.client::<Numbers>("double").create()?;
        client
            .call_then(Number(1), move |_: sinew::service::CallResult<Numbers>| answered("client"))
            .unwrap();
        client.detach();
        let matched = capture();
        node.publisher::<Text>("texts").on_matched(move || matched("publisher")).create()?.detach();
        let triggered = capture();
        let guard: GuardCondition = node.guard_condition().callback(move || triggered("guard condition"))?;
        guard.trigger();
        guard.detach();
        let ready = capture();
        let (near, far) = UnixStream::pair().expect("there is room for sockets");
        node.descriptor(&near).callback(move || ready("descriptor source"))?.detach();
        drop(far);
    }
    let publisher = stage.publisher("numbers")?;
    publisher.publish(Number(1))?;
    let _texts = stage.receiver.subscription::<Text>("texts").create()?;
    let mut received = stage.collect(&log, 7)?;
    received.sort_unstable();
    assert_eq!(
        received,
        ["client", "descriptor source", "guard condition", "publisher", "server", "subscription", "timer"]
    );
    assert!(Arc::strong_count(&held) > 1);
    stage.receiving.shutdown();
    assert_eq!(Arc::strong_count(&held), 1);
    Ok(())
}
