//! What a program says of a managed node: what there is in which state, and how it comes and goes.

use crate::machine::Transition;
use crate::managed::ManagedNode;
use std::error::Error;
use std::fmt;

sinew::__debug_says!(CallbackError);

/// A managed node, by what it has in which state.
///
/// Unconfigured it has only what the value itself has. [`configure`](Self::configure) makes
/// `Inactive`, [`activate`](Self::activate) makes `Active` of that; the other callbacks go back. So
/// no callback finds a resource that isn't there, and none has to be put into an `Option`: what a
/// callback doesn't hand on is dropped, and is gone.
///
/// A callback that returns says one of three things, as in ROS 2:
///
/// | | it returns | the node |
/// |---|---|---|
/// | success | `Ok` with what there is now | goes on |
/// | failure | [`Failed::stay`] with what there was | goes back, and has that still |
/// | error | [`Failed::error`], any error by `?`, or it panics | has nothing more, and asks [`on_error`](Self::on_error) whether it may be configured again |
///
/// Callbacks run on the thread that asks for the transition (by the service: on that of the
/// executor that runs the node's group for transitions), one at a time, and hold no lock: they may
/// block, and call services, also those of the node itself.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_interfaces::std_msgs::msg::String as Text;
/// use sinew_lifecycle::{Failed, Lifecycle, LifecycleNode, ManagedNode, ManagedPublisher, State};
///
/// struct Talker;
///
/// impl Lifecycle for Talker {
///     type Inactive = ManagedPublisher<Text>;
///     type Active = (ManagedPublisher<Text>, Timer);
///
///     fn configure(&mut self, node: &ManagedNode) -> Result<Self::Inactive, Failed<()>> {
///         Ok(node.manage(node.publisher("chatter").create()?))
///     }
///
///     fn activate(&mut self, node: &ManagedNode, chatter: Self::Inactive) -> Result<Self::Active, Failed<Self::Inactive>> {
///         let talk = chatter.clone();
///         let timer = node.timer(Duration::from_secs(1)).callback(move || talk.publish(Text { data: "hello".into() }))?;
///         Ok((chatter, timer))
///     }
///
///     fn deactivate(&mut self, (chatter, _timer): Self::Active) -> Result<Self::Inactive, Failed<Self::Active>> {
///         Ok(chatter) // the timer is dropped
///     }
/// }
///
/// let context = Context::new()?;
/// let talker = LifecycleNode::new(&context.node("talker")?, Talker)?;
/// assert_eq!(talker.configure()?, State::Inactive);
/// assert_eq!(talker.activate()?, State::Active);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Lifecycle: Send + 'static {
    /// What there is while the node is inactive.
    type Inactive: Send + 'static;
    /// What there is while the node is active.
    type Active: Send + 'static;

    /// Makes what the node needs: reads parameters, opens devices, creates entities.
    ///
    /// # Errors
    /// [`Failed::stay`] of nothing, to be tried again; or an error.
    fn configure(&mut self, node: &ManagedNode) -> Result<Self::Inactive, Failed<()>>;

    /// Begins to work. Managed publishers are open already; managed groups run once this has
    /// returned.
    ///
    /// # Errors
    /// [`Failed::stay`] with what there was, or an error.
    fn activate(
        &mut self,
        node: &ManagedNode,
        inactive: Self::Inactive,
    ) -> Result<Self::Active, Failed<Self::Inactive>>;

    /// Ceases to work. No callback of a managed group runs any more; managed publishers are open
    /// until this has returned, for a last word.
    ///
    /// # Errors
    /// [`Failed::stay`] with what there was (the node stays active), or an error.
    fn deactivate(&mut self, active: Self::Active) -> Result<Self::Inactive, Failed<Self::Active>>;

    /// Gives back what the node needed; by default drops it.
    ///
    /// # Errors
    /// [`Failed::stay`] with what there was, or an error.
    fn cleanup(&mut self, inactive: Self::Inactive) -> Result<(), Failed<Self::Inactive>> {
        drop(inactive);
        Ok(())
    }

    /// The node ends, with what it has now; by default drops it.
    ///
    /// # Errors
    /// [`Failed::stay`]: it ends all the same, as in ROS 2. After an error
    /// [`on_error`](Self::on_error) is asked.
    fn shutdown(&mut self, held: Held<Self::Inactive, Self::Active>) -> Result<(), Failed<()>> {
        drop(held);
        Ok(())
    }

    /// A callback ended with an error or a panic; what the node had is dropped by now. Says whether
    /// the node can be configured again. By default it can't, as in ROS 2. If this panics, neither.
    fn on_error(&mut self, error: &CallbackError) -> Recovery {
        let _ = error;
        Recovery::Finalized
    }
}

/// What a node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held<I, A> {
    /// Nothing: it is unconfigured or finalized.
    Nothing,
    /// What there is while it is inactive.
    Inactive(I),
    /// What there is while it is active.
    Active(A),
}

/// What becomes of a node after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// It is unconfigured, and may be configured again.
    Unconfigured,
    /// It is over.
    Finalized,
}

/// A callback's error, as [`Lifecycle::on_error`] is told of it.
#[derive(thiserror::Error)]
#[error("{transition} failed: {reason}")]
#[non_exhaustive]
pub struct CallbackError {
    /// What was to be done.
    pub transition: Transition,
    /// The error; of a panic its message.
    pub reason: Box<dyn Error + Send + Sync>,
    /// The callback panicked.
    pub has_panicked: bool,
}

/// A callback that didn't succeed: what there is still, or an error.
///
/// `?` makes an error of any other; so no callback goes on with half of what it needs.
pub struct Failed<T> {
    pub(crate) kept: Option<T>,
    pub(crate) reason: Box<dyn Error + Send + Sync>,
}

impl<T> Failed<T> {
    /// ROS 2's `FAILURE`: it can't be done now. The node goes back to where it was, and keeps what
    /// it had.
    ///
    /// ```
    /// use sinew_lifecycle::Failed;
    /// fn activate(motor: u64, has_power: bool) -> Result<u64, Failed<u64>> {
    ///     if !has_power {
    ///         return Err(Failed::stay(motor, "the motor has no power"));
    ///     }
    ///     Ok(motor)
    /// }
    /// assert_eq!(activate(1, true).unwrap(), 1);
    /// assert_eq!(activate(1, false).unwrap_err().to_string(), "the motor has no power");
    /// ```
    pub fn stay(kept: T, reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kept: Some(kept), reason: reason.into() }
    }

    /// ROS 2's `ERROR`: something broke.
    pub fn error(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kept: None, reason: reason.into() }
    }
}

impl<T, E: Error + Send + Sync + 'static> From<E> for Failed<T> {
    fn from(error: E) -> Self {
        Self::error(error)
    }
}

impl<T> fmt::Debug for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stays = self.kept.is_some();
        f.debug_struct("Failed").field("stays", &stays).field("reason", &self.reason).finish()
    }
}

/// The reason.
impl<T> fmt::Display for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.reason, f)
    }
}
