//! Several nodes, in order.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, pause};
use parking_lot::Mutex;
use sinew::prelude::*;
use sinew_lifecycle::{
    Failed, FromFn, Held, Lifecycle, LifecycleClient, LifecycleNode, ManagedNode, OnLoss, State, Supervisor,
    SupervisorError, Transition, from_fn,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

on_both_paths! {
    all_go_up_in_order_and_down_in_reverse,
    one_that_fails_takes_the_others_down,
    a_shutdown_that_fails_is_reported,
    one_that_is_missing_is_named,
    one_that_is_lost_takes_the_others_down,
    one_that_comes_back_is_brought_up,
    what_cannot_be_brought_up_is_tried_again,
}

type Story = Arc<Mutex<Vec<String>>>;

fn node(
    world: &World,
    name: &'static str,
    story: &Story,
    breaks: Arc<AtomicBool>,
) -> LifecycleNode<FromFn<()>> {
    let note = |what: &'static str| {
        let story = story.clone();
        move || story.lock().push(format!("{name} {what}"))
    };
    let (up, on, off) = (note("configure"), note("activate"), note("deactivate"));
    let lifecycle = from_fn(move |_| {
        up();
        Ok(())
    })
    .on_activate(move |()| {
        if breaks.load(Ordering::Relaxed) {
            return Err(sinew::Context::builder().domain(100_000).build().map(drop).unwrap_err().into());
        }
        on();
        Ok(())
    })
    .on_deactivate(move |()| {
        off();
        Ok(())
    });
    LifecycleNode::new(&world.robot.node(name).unwrap(), lifecycle).unwrap()
}

fn sound() -> Arc<AtomicBool> {
    Arc::default()
}

fn supervisor(world: &World, nodes: &[&str]) -> Supervisor {
    let mut builder = Supervisor::builder(&world.operator.node("supervisor").unwrap()).timeout(PATIENCE);
    for name in nodes {
        builder = builder.manage(*name);
    }
    builder.build().unwrap()
}

fn all_go_up_in_order_and_down_in_reverse(world: &World) {
    let story = Story::default();
    let (map, planner) = (node(world, "map", &story, sound()), node(world, "planner", &story, sound()));
    let supervisor = supervisor(world, &["/map", "/planner"]);
    supervisor.start().unwrap();
    supervisor.start().unwrap(); // they are up already
    supervisor.pause();
    assert_eq!([map.state(), planner.state()], [State::Inactive; 2]);
    supervisor.start().unwrap();
    supervisor.shutdown().unwrap();
    assert_eq!([map.state(), planner.state()], [State::Finalized; 2]);
    supervisor.shutdown().unwrap(); // they are shut down already
    let up = ["map configure", "planner configure", "map activate", "planner activate"];
    let down = ["planner deactivate", "map deactivate"];
    let again = ["map activate", "planner activate"];
    assert_eq!(*story.lock(), [&up[..], &down, &again, &down].concat());
}

fn one_that_fails_takes_the_others_down(world: &World) {
    let story = Story::default();
    let breaks = Arc::new(AtomicBool::new(true));
    let (map, planner) = (node(world, "map", &story, sound()), node(world, "planner", &story, breaks));
    let error = supervisor(world, &["/map", "/planner"]).start().unwrap_err();
    assert!(
        matches!(&error, SupervisorError::Transition { transition: Transition::Activate, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "activate failed: node /planner didn't activate, and is finalized; its log says why"
    );
    assert_eq!([map.state(), planner.state()], [State::Unconfigured, State::Finalized]);
    assert_eq!(story.lock().last().unwrap(), "map deactivate");
}

/// Fails when it is shut down; it is finalized all the same.
struct Stubborn;

impl Lifecycle for Stubborn {
    type Inactive = ();
    type Active = ();

    fn configure(&mut self, _: &ManagedNode) -> Result<(), Failed<()>> {
        Ok(())
    }

    fn activate(&mut self, _: &ManagedNode, (): ()) -> Result<(), Failed<()>> {
        Ok(())
    }

    fn deactivate(&mut self, (): ()) -> Result<(), Failed<()>> {
        Ok(())
    }

    fn shutdown(&mut self, _: Held<(), ()>) -> Result<(), Failed<()>> {
        Err(Failed::error("the door is open"))
    }
}

fn a_shutdown_that_fails_is_reported(world: &World) {
    let map = node(world, "map", &Story::default(), sound());
    let door = LifecycleNode::new(&world.robot.node("door").unwrap(), Stubborn).unwrap();
    let supervisor = supervisor(world, &["/map", "/door"]);
    supervisor.start().unwrap();
    let error = supervisor.shutdown().unwrap_err();
    assert!(
        matches!(&error, SupervisorError::Transition { transition: Transition::Shutdown, .. }),
        "{error}"
    );
    assert_eq!((map.state(), door.state()), (State::Finalized, State::Finalized));
    supervisor.shutdown().unwrap();
}

fn one_that_is_missing_is_named(world: &World) {
    let story = Story::default();
    let map = node(world, "map", &story, sound());
    let operator = world.operator.node("supervisor").unwrap();
    // The timeout applies to the first node as well; here it is known before.
    assert!(LifecycleClient::new(&operator, "/map").unwrap().wait_until_ready(PATIENCE));
    let supervisor =
        Supervisor::builder(&operator).timeout(Duration::from_millis(500)).manage("/map").manage("/gone");
    let error = supervisor.build().unwrap().start().unwrap_err();
    assert!(error.to_string().starts_with("managed node /gone isn't available after 0.5 s"), "{error}");
    assert_eq!(map.state(), State::Unconfigured, "nothing was begun");
}

fn one_that_is_lost_takes_the_others_down(world: &World) {
    let story = Story::default();
    let (map, planner) = (node(world, "map", &story, sound()), node(world, "planner", &story, sound()));
    let supervisor = supervisor(world, &["/map", "/planner"]);
    std::thread::scope(|scope| {
        let supervising = scope.spawn(|| supervisor.supervise(OnLoss::TakeDown));
        wait(|| planner.state() == State::Active);
        drop(map);
        let error = supervising.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "node /map was active, and is gone now; the others were taken down");
    });
    assert_eq!(planner.state(), State::Unconfigured);
}

fn one_that_comes_back_is_brought_up(world: &World) {
    let story = Story::default();
    let (map, planner) = (node(world, "map", &story, sound()), node(world, "planner", &story, sound()));
    let supervisor = supervisor(world, &["/map", "/planner"]);
    std::thread::scope(|scope| {
        let supervising = scope.spawn(|| {
            let ended = supervisor.supervise(OnLoss::Restart);
            assert!(world.operator.is_shutdown(), "{ended:?}");
            ended
        });
        let wait = |until: &dyn Fn() -> bool| wait(|| until() || supervising.is_finished());
        wait(&|| planner.state() == State::Active);
        drop(map);
        wait(&|| planner.state() == State::Unconfigured);
        let map = node(world, "map", &story, sound());
        let activated = || story.lock().iter().filter(|what| *what == "planner activate").count();
        wait(&|| activated() == 2);
        // The same for a node that left its state by itself.
        map.deactivate().unwrap();
        wait(&|| activated() == 3 && map.state() == State::Active && planner.state() == State::Active);
        world.operator.shutdown();
        assert!(supervising.join().unwrap().is_err());
    });
}

fn what_cannot_be_brought_up_is_tried_again(world: &World) {
    let story = Story::default();
    let breaks = Arc::new(AtomicBool::new(true));
    let planner = node(world, "planner", &story, sound());
    let broken = node(world, "map", &story, breaks.clone());
    let supervisor = supervisor(world, &["/planner", "/map"]);
    let stop = supervisor.stop_handle();
    std::thread::scope(|scope| {
        let supervising = scope.spawn(|| supervisor.supervise(OnLoss::Restart));
        let wait = |until: &dyn Fn() -> bool| wait(|| until() || supervising.is_finished());
        // The node cannot be activated, and is finalized: only a new node helps.
        wait(&|| broken.state() == State::Finalized && planner.state() == State::Unconfigured);
        assert!(!supervising.is_finished());
        drop(broken);
        let map = node(world, "map", &story, sound());
        wait(&|| [map.state(), planner.state()] == [State::Active; 2]);
        stop.stop();
        assert!(matches!(supervising.join().unwrap(), Err(SupervisorError::Shutdown)));
        assert_eq!([map.state(), planner.state()], [State::Active; 2], "they stay as they are");
    });
}

#[track_caller]
fn wait(until: impl Fn() -> bool) {
    let begin = sinew::time::Time::steady();
    while !until() {
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "it never is");
        pause(1);
    }
}
