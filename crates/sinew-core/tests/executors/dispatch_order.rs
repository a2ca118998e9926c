//! Which of the callbacks that are ready begins first.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use sinew::executor::DispatchOrder;
use sinew::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

#[derive(Clone)]
struct Number(u32);

impl Message for Number {}

/// A node with an executor, and what its callbacks note.
struct Scene {
    context: Context,
    node: Node,
    order: DispatchOrder,
    notes: (Sender<String>, Receiver<String>),
}

impl Scene {
    fn of(order: DispatchOrder) -> Self {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("scene").unwrap();
        Self { context, node, order, notes: channel() }
    }

    fn publisher(&self, topic: &str) -> Publisher<Number> {
        self.node.publisher(topic).create().unwrap()
    }

    /// A subscription that notes each message, and then calls the closure, in a group of its own.
    fn subscription(&self, topic: &str, mut then: impl FnMut(u32) + Send + 'static) -> Subscription<Number> {
        let (note, name) = (self.notes.0.clone(), topic.to_owned());
        let noted = move |number: &Number| {
            note.send(format!("{name}{}", number.0)).unwrap();
            then(number.0);
        };
        self.node.group(()).subscription::<Number>(topic).callback(noted).unwrap()
    }

    /// Spins until the context is shut down. Returns the notes.
    fn spin(&self) -> Vec<String> {
        let executor = Executor::builder().dispatch_order(self.order).build().unwrap();
        executor.add(&self.context).unwrap();
        executor.spin().unwrap();
        self.notes.1.try_iter().collect()
    }
}

/// Two messages wait; the callback of the first publishes two to a topic, the second of which makes
/// its callback publish a third.
fn branches(order: DispatchOrder) -> Vec<String> {
    let scene = Scene::of(order);
    let (next, last) = (scene.publisher("next"), scene.publisher("last"));
    let (context, left) = (scene.context.clone(), Arc::new(AtomicU32::new(2)));
    let end = move || {
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            context.shutdown();
        }
    };
    let end_too = end.clone();
    let _first = scene.subscription("first", move |_| {
        (1..=2).for_each(|number| next.publish(Number(number)).unwrap());
    });
    let _next = scene.subscription("next", move |number| {
        if number == 2 {
            last.publish(Number(3)).unwrap();
        }
    });
    let _waiting = scene.subscription("waiting", move |_| end());
    let _last = scene.subscription("last", move |_| end_too());
    scene.publisher("first").publish(Number(0)).unwrap();
    scene.publisher("waiting").publish(Number(0)).unwrap();
    scene.spin()
}

#[test]
fn by_time_the_oldest_is_first() {
    assert_eq!(branches(DispatchOrder::ByTime), ["first0", "waiting0", "next1", "next2", "last3"]);
}

#[test]
fn run_next_what_a_callback_published_is_first() {
    assert_eq!(branches(DispatchOrder::RunNext), ["first0", "next1", "next2", "last3", "waiting0"]);
}

#[test]
fn what_waits_has_its_turn_also_beside_a_loop_without_an_end() {
    let scene = Scene::of(DispatchOrder::RunNext);
    let (again, stop) = (scene.publisher("loop"), scene.context.clone());
    let _loop = scene.subscription("loop", move |number| {
        let _ = again.publish(Number(number + 1)); // fails once the context is shut down
    });
    let _waiting = scene.subscription("waiting", move |_| stop.shutdown());
    scene.publisher("loop").publish(Number(0)).unwrap();
    scene.publisher("waiting").publish(Number(0)).unwrap();
    let notes = scene.spin();
    let place = notes.iter().position(|note| note == "waiting0").unwrap();
    let most = usize::try_from(DispatchOrder::IN_A_ROW).unwrap() + 1; // and the first, of the queue
    assert_eq!(place, most);
}

#[test]
fn a_due_timer_waits_for_what_the_one_before_has_published() {
    let scene = Scene::of(DispatchOrder::RunNext);
    let (tick, stop) = (scene.publisher("tick"), scene.context.clone());
    let note = scene.notes.0.clone();
    let groups = [scene.node.group(()), scene.node.group(())];
    let _timers = groups.map(|group| {
        let (tick, note) = (tick.clone(), note.clone());
        // Both are late when the spin begins.
        let timer = group.timer(Duration::from_nanos(1)).callback(move || {
            note.send("timer".to_owned()).unwrap();
            tick.publish(Number(0)).unwrap();
        });
        timer.unwrap()
    });
    let mut seen = 0;
    let _tick = scene.subscription("tick", move |_| {
        seen += 1;
        if seen == 10 {
            stop.shutdown();
        }
    });
    let notes = scene.spin();
    assert!(notes.len() >= 20, "{notes:?}");
    assert!(notes[..20].chunks(2).all(|pair| pair == ["timer", "tick0"]), "{notes:?}");
}
