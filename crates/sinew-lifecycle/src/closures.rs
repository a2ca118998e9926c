//! Managed nodes made of one closure.

use crate::callbacks::{CallbackError, Failed, Lifecycle, Recovery};
use crate::managed::ManagedNode;

/// Makes a managed node with the same resources when inactive and active: those that `configure`
/// makes. Its managed publishers and groups rest while the node is inactive, so it needs no other
/// callbacks.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_interfaces::std_msgs::msg::String as Text;
/// use sinew_lifecycle::{LifecycleNode, State, from_fn};
///
/// let context = Context::new()?;
/// let talker = LifecycleNode::new(&context.node("talker")?, from_fn(|node| {
///     let chatter = node.manage(node.publisher("chatter").create()?);
///     let timer = node.managed_group(()).timer(Duration::from_secs(1));
///     Ok(timer.callback(move || chatter.publish(Text { data: "hello".into() }))?)
/// }))?;
/// talker.configure()?; // makes both
/// talker.activate()?; // now the timer runs
/// talker.shutdown()?; // and now it is dropped
/// assert_eq!(talker.state(), State::Finalized);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_fn<R: Send + 'static>(
    configure: impl FnMut(&ManagedNode) -> sinew::Result<R> + Send + 'static,
) -> FromFn<R> {
    FromFn {
        configure: Box::new(configure),
        activate: Box::new(|_| Ok(())),
        deactivate: Box::new(|_| Ok(())),
        on_error: Box::new(|_| Recovery::Finalized),
    }
}

type Configure<R> = Box<dyn FnMut(&ManagedNode) -> sinew::Result<R> + Send>;
type Change<R> = Box<dyn FnMut(&mut R) -> sinew::Result<()> + Send>;

/// A managed node made of closures; returned by [`from_fn`].
pub struct FromFn<R> {
    configure: Configure<R>,
    activate: Change<R>,
    deactivate: Change<R>,
    on_error: Box<dyn FnMut(&CallbackError) -> Recovery + Send>,
}

impl<R: Send + 'static> FromFn<R> {
    /// Sets a callback to run when the node is activated. Its error becomes the transition's.
    #[must_use]
    pub fn on_activate(self, callback: impl FnMut(&mut R) -> sinew::Result<()> + Send + 'static) -> Self {
        Self { activate: Box::new(callback), ..self }
    }

    /// Sets a callback to run when the node is deactivated, or shut down while active.
    #[must_use]
    pub fn on_deactivate(self, callback: impl FnMut(&mut R) -> sinew::Result<()> + Send + 'static) -> Self {
        Self { deactivate: Box::new(callback), ..self }
    }

    /// Sets a callback that decides the node's state after an error; see [`Lifecycle::on_error`].
    #[must_use]
    pub fn on_error(self, callback: impl FnMut(&CallbackError) -> Recovery + Send + 'static) -> Self {
        Self { on_error: Box::new(callback), ..self }
    }
}

impl<R: Send + 'static> Lifecycle for FromFn<R> {
    type Inactive = R;
    type Active = R;

    fn configure(&mut self, node: &ManagedNode) -> Result<R, Failed<()>> {
        Ok((self.configure)(node)?)
    }

    fn activate(&mut self, _: &ManagedNode, mut inactive: R) -> Result<R, Failed<R>> {
        (self.activate)(&mut inactive)?;
        Ok(inactive)
    }

    fn deactivate(&mut self, mut active: R) -> Result<R, Failed<R>> {
        (self.deactivate)(&mut active)?;
        Ok(active)
    }

    fn shutdown(&mut self, held: crate::Held<R, R>) -> Result<(), Failed<()>> {
        if let crate::Held::Active(mut active) = held {
            (self.deactivate)(&mut active)?;
        }
        Ok(())
    }

    fn on_error(&mut self, error: &CallbackError) -> Recovery {
        (self.on_error)(error)
    }
}
