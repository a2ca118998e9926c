//! Brings several managed nodes up in order, and down in the reverse order.

use crate::client::{LifecycleClient, LifecycleClientError};
use crate::machine::{State, Transition};
use sinew::error::CreateError;
use sinew::time::{ClockKind, Time};
use sinew::{Duration, Node};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

sinew::__debug_says!(SupervisorError);

/// Brings managed nodes up in order, and takes them down if one of them is lost. ROS 2: nav2's
/// `lifecycle_manager`.
///
/// All methods block the calling thread, and are not for callbacks. The nodes may be in any
/// process, of Sinew or ROS 2.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_lifecycle::{LifecycleNode, State, Supervisor, from_fn};
///
/// let context = Context::new()?;
/// let map = LifecycleNode::new(&context.node("map")?, from_fn(|_| Ok(())))?;
/// let planner = LifecycleNode::new(&context.node("planner")?, from_fn(|_| Ok(())))?;
/// let spun = context.clone();
/// let spinning = std::thread::spawn(move || sinew::spin(&spun));
///
/// let supervisor = Supervisor::builder(&context.node("supervisor")?)
///     .manage("/map") // first: the planner needs it
///     .manage("/planner")
///     .build()?;
/// supervisor.start()?;
/// assert_eq!((map.state(), planner.state()), (State::Active, State::Active));
/// supervisor.shutdown()?;
/// assert_eq!((map.state(), planner.state()), (State::Finalized, State::Finalized));
/// context.shutdown();
/// # spinning.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Supervisor {
    node: Node,
    managed: Vec<LifecycleClient>,
    timeout: Duration,
    is_stopped: Arc<AtomicBool>,
}

/// Ends a [supervision](Supervisor::supervise) from any thread; returned by
/// [`Supervisor::stop_handle`].
#[derive(Debug, Clone)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// Ends the supervision within a tenth of a second, or after the transition that it is waiting
    /// for. The nodes keep their states. The supervision cannot be started again. Never blocks.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed); // Relaxed: no other data depends on it
    }
}

/// Makes a [`Supervisor`]; returned by [`Supervisor::builder`].
#[derive(Debug)]
#[must_use = "there is no supervisor before `build`"]
pub struct SupervisorBuilder {
    node: Node,
    managed: Vec<String>,
    timeout: Duration,
}

/// The reaction to the loss of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnLoss {
    /// The other nodes are deactivated and cleaned up, in reverse order, and supervision ends.
    TakeDown,
    /// The other nodes are deactivated and cleaned up, then all are brought up again once the lost
    /// node is back. If bringing them up fails, even the first time, the failure is logged and the
    /// attempt repeated: after a tenth of a second, then after twice as long each time, up to 10 s.
    Restart,
}

/// Nodes could not be brought up or taken down, or one was lost.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SupervisorError {
    /// A node is not available.
    #[error("managed node {node} isn't available after {:.1} s: it has no service change_state; check that it runs, and that this is its full name", .waited.as_secs_f64())]
    Missing {
        /// The node.
        node: String,
        /// The time that the supervisor waited.
        waited: Duration,
    },
    /// A transition of a node failed. Nodes that were brought up before are down again.
    #[error("{transition} failed: {source}")]
    Transition {
        /// The requested transition.
        transition: Transition,
        /// The error of the request.
        source: LifecycleClientError,
    },
    /// A node that was up is gone, or left its state by itself. The other nodes are down.
    #[error("node {node} was active, and {} now; the others were taken down", found(*state))]
    Lost {
        /// The node.
        node: String,
        /// The node's state; `None` if it is gone.
        state: Option<State>,
    },
    /// The context was shut down, or the supervision was stopped.
    #[error("the context was shut down, or the supervision was stopped")]
    Shutdown,
}

fn found(state: Option<State>) -> String {
    state.map_or_else(|| "is gone".to_owned(), |state| format!("is {state}"))
}

impl SupervisorBuilder {
    /// Adds a node by its full name. It is brought up after the nodes added before, and taken down
    /// before them.
    pub fn manage(mut self, node: impl Into<String>) -> Self {
        self.managed.push(node.into());
        self
    }

    /// Sets the time that a node may take to become available, and for each transition. The default
    /// is 10 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Makes the supervisor, which sends no requests yet.
    ///
    /// # Errors
    /// [`CreateError`] if a name is not valid or the context is shut down.
    pub fn build(self) -> Result<Supervisor, CreateError> {
        let Self { node, managed, timeout } = self;
        let clients = managed.iter().map(|name| LifecycleClient::new(&node, name));
        let managed = clients.collect::<Result<_, _>>()?;
        Ok(Supervisor { managed, node, timeout, is_stopped: Arc::default() })
    }
}

/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(100);

/// Maximum number of intervals before nodes that failed to come up are tried again.
const MOST_LOOKS: u32 = 100;

impl Supervisor {
    /// Returns a builder for a supervisor that sends its requests in the name of this node.
    pub fn builder(node: &Node) -> SupervisorBuilder {
        SupervisorBuilder { node: node.clone(), managed: Vec::new(), timeout: Duration::from_secs(10) }
    }

    /// Returns a handle that ends [`supervise`](Self::supervise).
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.is_stopped.clone())
    }

    /// Waits for all nodes, configures all in order, then activates all in order. Nodes that are
    /// already in the state, or beyond it, are left unchanged.
    ///
    /// # Errors
    /// [`SupervisorError`], with the first node that failed. Nodes that were brought up are cleaned
    /// up again, in reverse order.
    pub fn start(&self) -> Result<(), SupervisorError> {
        for client in &self.managed {
            self.wait_for(client)?;
        }
        for transition in [Transition::Configure, Transition::Activate] {
            for client in &self.managed {
                if let Err(source) = self.advance(client, transition) {
                    self.take_down();
                    return Err(SupervisorError::Transition { transition, source });
                }
            }
        }
        Ok(())
    }

    fn wait_for(&self, client: &LifecycleClient) -> Result<(), SupervisorError> {
        let deadline = Time::steady() + self.timeout;
        // In parts, so that `stop` can interrupt it.
        while !client.wait_until_ready(LOOK.min(deadline - Time::steady())) {
            self.sleep(Duration::from_millis(1))?; // after a shutdown `wait_until_ready` returns at once
            if Time::steady() >= deadline {
                let node = client.managed().to_owned();
                return Err(SupervisorError::Missing { node, waited: self.timeout });
            }
        }
        Ok(())
    }

    /// Requests the transition, unless the node has already made it.
    fn advance(&self, client: &LifecycleClient, transition: Transition) -> Result<(), LifecycleClientError> {
        let state = client.state(self.timeout)?;
        let is_there = match transition {
            Transition::Configure => matches!(state, State::Inactive | State::Active),
            _ => state == State::Active,
        };
        if is_there { Ok(()) } else { client.change(transition, self.timeout) }
    }

    /// Deactivates the active nodes, in reverse order. Failures are logged.
    pub fn pause(&self) {
        self.step_back(State::Active, Transition::Deactivate);
    }

    /// Deactivates and cleans up the nodes that are up, in reverse order. Failures are logged.
    pub fn take_down(&self) {
        self.step_back(State::Active, Transition::Deactivate);
        self.step_back(State::Inactive, Transition::Cleanup);
    }

    fn step_back(&self, from: State, transition: Transition) {
        for client in self.managed.iter().rev().filter(|client| client.is_ready()) {
            let done = match client.state(self.timeout) {
                Ok(state) if state == from => client.change(transition, self.timeout),
                Ok(_) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                sinew::warn!(self.node, "taking down: {error}");
            }
        }
    }

    /// Shuts all nodes down, in reverse order: deactivates, cleans up, and finalizes. A node that
    /// is finalized already stays so.
    ///
    /// # Errors
    /// [`SupervisorError::Transition`] for the first node that failed; the other nodes are shut
    /// down.
    pub fn shutdown(&self) -> Result<(), SupervisorError> {
        self.take_down();
        let mut first = Ok(());
        for client in self.managed.iter().rev().filter(|client| client.is_ready()) {
            // Before the request: one that fails ends there as well.
            if matches!(client.state(self.timeout), Ok(State::Finalized)) {
                continue;
            }
            if let Err(source) = client.change(Transition::Shutdown, self.timeout)
                && first.is_ok()
            {
                first = Err(SupervisorError::Transition { transition: Transition::Shutdown, source });
            }
        }
        first
    }

    /// Brings all nodes up, and watches them until one is lost (it is gone, or no longer active),
    /// the context is shut down, or it is [stopped](Self::stop_handle). Checks ten times a second
    /// whether all nodes exist, and once a second whether all are active.
    ///
    /// # Errors
    /// [`SupervisorError`]: with [`OnLoss::TakeDown`], the nodes cannot be brought up, or one was
    /// lost; in any case, the context was shut down, or the supervision was stopped.
    pub fn supervise(&self, on_loss: OnLoss) -> Result<(), SupervisorError> {
        let mut looks = 1;
        loop {
            if let Err(error) = self.start() {
                if on_loss == OnLoss::TakeDown || matches!(error, SupervisorError::Shutdown) {
                    return Err(error);
                }
                self.sleep(LOOK)?; // fails if the context is shut down, which may be why `start` failed
                sinew::warn!(self.node, "{error}; it is tried again");
                for _ in 1..looks {
                    self.sleep(LOOK)?;
                }
                looks = MOST_LOOKS.min(2 * looks);
                continue;
            }
            looks = 1;
            let lost = self.watch()?;
            let told = lost.to_string();
            self.take_down();
            if on_loss == OnLoss::TakeDown {
                return Err(lost);
            }
            sinew::warn!(self.node, "{told}; they are brought up again once it is back");
            while !self.managed.iter().all(LifecycleClient::is_ready) {
                self.sleep(LOOK)?;
            }
        }
    }

    /// Blocks until a node is lost, and returns the loss.
    fn watch(&self) -> Result<SupervisorError, SupervisorError> {
        for look in 0_u64.. {
            for client in &self.managed {
                let node = || client.managed().to_owned();
                if !client.is_ready() {
                    return Ok(SupervisorError::Lost { node: node(), state: None });
                }
                if look % 10 == 0 {
                    match client.state(self.timeout) {
                        Ok(State::Active) => {}
                        Ok(state) => return Ok(SupervisorError::Lost { node: node(), state: Some(state) }),
                        Err(_) => return Ok(SupervisorError::Lost { node: node(), state: None }),
                    }
                }
            }
            self.sleep(LOOK)?;
        }
        Err(SupervisorError::Shutdown)
    }

    fn sleep(&self, time: Duration) -> Result<(), SupervisorError> {
        let slept = self.node.sleep_for(ClockKind::Steady, time).is_ok();
        if slept && !self.is_stopped.load(Ordering::Relaxed) {
            Ok(())
        } else {
            Err(SupervisorError::Shutdown)
        }
    }
}
