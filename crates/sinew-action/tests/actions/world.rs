//! A world for a client and a server: one process, or two contexts that meet in shared memory.

use sinew::prelude::*;
use sinew::time::Time;
use sinew_action::{ActionClient, Actions, Cancel, Canceled, ExecutingGoal, GoalHandle};
use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciGoal};
use std::sync::mpsc;

/// Time limit of operations that would otherwise hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) server: Node,
    pub(crate) client: Node,
    pub(crate) contexts: Vec<Context>,
    pub(crate) executor: Executor,
    _place: Option<tempfile::TempDir>,
}

impl World {
    pub(crate) fn in_process() -> Self {
        let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
        Self::of(vec![context.clone(), context], None)
    }

    pub(crate) fn shm() -> Self {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = || Context::builder().domain(3).directory(place.path()).build().unwrap();
        Self::of(vec![context(), context()], Some(place))
    }

    fn of(contexts: Vec<Context>, place: Option<tempfile::TempDir>) -> Self {
        let executor = Executor::single();
        executor.add(&contexts[0]).unwrap();
        if place.is_some() {
            executor.add(&contexts[1]).unwrap();
        }
        let (server, client) = (contexts[0].node("server").unwrap(), contexts[1].node("client").unwrap());
        Self { server, client, contexts, executor, _place: place }
    }

    pub(crate) fn is_in_process(&self) -> bool {
        self._place.is_none()
    }

    /// Sets the time of the server's stamps.
    pub(crate) fn set_time(&self, nanoseconds: i64) {
        for context in &self.contexts {
            context.set_ros_time(Some(Time::from_nanoseconds(nanoseconds)));
        }
    }

    /// Runs callbacks until `look` finds something.
    #[track_caller]
    pub(crate) fn until<R>(&self, mut look: impl FnMut() -> Option<R>) -> R {
        let begin = Time::steady();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Time::steady() - begin < PATIENCE, "it never is");
            self.executor.spin_some().unwrap();
            std::thread::yield_now();
        }
    }

    /// Makes a server that sends its goals into the channel.
    pub(crate) fn serve(&self) -> (sinew_action::ActionServer<Fibonacci>, Goals) {
        let (sender, goals) = mpsc::channel();
        let begin = move |goal: ExecutingGoal<Fibonacci>| drop(sender.send(goal));
        (self.server.action_server("fibonacci").callback(begin).unwrap(), goals)
    }

    /// Makes a client, and waits until it has found the server.
    pub(crate) fn client(&self) -> ActionClient<Fibonacci> {
        let client = self.client.action_client("fibonacci").create().unwrap();
        assert!(client.wait_for_server(PATIENCE));
        client
    }

    /// Runs callbacks until the channel yields something, for instance a goal that begins.
    #[track_caller]
    pub(crate) fn next<T>(&self, all: &mpsc::Receiver<T>) -> T {
        self.until(|| all.try_recv().ok())
    }
}

pub(crate) type Goals = mpsc::Receiver<ExecutingGoal<Fibonacci>>;

pub(crate) fn order(order: i32) -> FibonacciGoal {
    FibonacciGoal { order }
}

#[track_caller]
pub(crate) fn sent(client: &ActionClient<Fibonacci>, number: i32) -> GoalHandle<Fibonacci> {
    client.send_goal(order(number)).wait(PATIENCE).unwrap()
}

#[track_caller]
pub(crate) fn cancel(client: &ActionClient<Fibonacci>, which: Cancel) -> Canceled {
    client.cancel(which).wait(PATIENCE).unwrap()
}
