//! The callbacks of a managed node: the resources of each state, and the steps between states.

use crate::machine::Transition;
use crate::managed::ManagedNode;
use std::error::Error;
use std::fmt;

sinew::__debug_says!(CallbackError);

/// A managed node, described by its resources in each state.
///
/// An unconfigured node has only the value itself. [`configure`](Self::configure) makes `Inactive`,
/// and [`activate`](Self::activate) turns that into `Active`; the other callbacks go back. So no
/// callback can find a resource missing, and no resource needs to be an `Option`. Resources that a
/// callback doesn't return are dropped.
///
/// A callback ends in one of three ways, as in ROS 2:
///
/// | result | return value | the node |
/// |---|---|---|
/// | success | `Ok` with the new resources | enters the new state |
/// | failure | [`Failed::stay`] with the old resources | returns to its state, with those |
/// | error | [`Failed::error`], `?`, or a panic | has none; see [`on_error`](Self::on_error) |
///
/// A callback runs on the thread that requests the transition (for a request by service: on the
/// executor thread that runs the node's callback group for transitions). Callbacks run one at a
/// time and hold no lock: they may block, and call services, including those of the node itself.
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
    /// The resources of an inactive node.
    type Inactive: Send + 'static;
    /// The resources of an active node.
    type Active: Send + 'static;

    /// Makes the node's resources: reads parameters, opens devices, creates entities.
    ///
    /// # Errors
    /// [`Failed::stay`] with `()`, to allow another attempt; or an error.
    fn configure(&mut self, node: &ManagedNode) -> Result<Self::Inactive, Failed<()>>;

    /// Starts work. Managed publishers are open already; managed groups run once this has returned.
    ///
    /// # Errors
    /// [`Failed::stay`] with the inactive resources, or an error.
    fn activate(
        &mut self,
        node: &ManagedNode,
        inactive: Self::Inactive,
    ) -> Result<Self::Active, Failed<Self::Inactive>>;

    /// Stops work. Callbacks of managed groups no longer run; managed publishers stay open until
    /// this has returned, for a last message.
    ///
    /// # Errors
    /// [`Failed::stay`] with the active resources (the node stays active), or an error.
    fn deactivate(&mut self, active: Self::Active) -> Result<Self::Inactive, Failed<Self::Active>>;

    /// Releases the node's resources. The default drops them.
    ///
    /// # Errors
    /// [`Failed::stay`] with the inactive resources, or an error.
    fn cleanup(&mut self, inactive: Self::Inactive) -> Result<(), Failed<Self::Inactive>> {
        drop(inactive);
        Ok(())
    }

    /// Ends the node, with the resources that it has now. The default drops them.
    ///
    /// # Errors
    /// After [`Failed::stay`] the node ends nevertheless, as in ROS 2. After an error
    /// [`on_error`](Self::on_error) is called.
    fn shutdown(&mut self, held: Held<Self::Inactive, Self::Active>) -> Result<(), Failed<()>> {
        drop(held);
        Ok(())
    }

    /// Called after a callback failed with an error or a panic; the node's resources have been
    /// dropped. Returns whether the node can be configured again. The default is no, as in ROS 2,
    /// and so is a panic here.
    fn on_error(&mut self, error: &CallbackError) -> Recovery {
        let _ = error;
        Recovery::Finalized
    }
}

/// The resources of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held<I, A> {
    /// None: the node is unconfigured or finalized.
    Nothing,
    /// Those of an inactive node.
    Inactive(I),
    /// Those of an active node.
    Active(A),
}

/// The state of a node after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// The node is unconfigured, and may be configured again.
    Unconfigured,
    /// The node has ended.
    Finalized,
}

/// A callback's error, as passed to [`Lifecycle::on_error`].
#[derive(thiserror::Error)]
#[error("{transition} failed: {reason}")]
#[non_exhaustive]
pub struct CallbackError {
    /// The transition that failed.
    pub transition: Transition,
    /// The error; for a panic, its message.
    pub reason: Box<dyn Error + Send + Sync>,
    /// Set if the callback panicked.
    pub has_panicked: bool,
}

/// The failure of a callback: the resources that are left, or an error.
///
/// `?` converts any other error into one, so that no callback continues with incomplete resources.
pub struct Failed<T> {
    pub(crate) kept: Option<T>,
    pub(crate) reason: Box<dyn Error + Send + Sync>,
}

impl<T> Failed<T> {
    /// ROS 2's `FAILURE`: the transition is not possible now. The node returns to its previous
    /// state and keeps its resources.
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

    /// ROS 2's `ERROR`: the transition failed, and the resources are lost.
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

/// Shows the reason.
impl<T> fmt::Display for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.reason, f)
    }
}
