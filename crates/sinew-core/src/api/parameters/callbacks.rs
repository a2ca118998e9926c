//! Handles of callbacks for parameters.

use super::node::table_of;
use crate::api::node::{Node, NodeCore};
use crate::parameters::callbacks::Callback;
use crate::parameters::value::NamedValue;
use crate::ros::failure::CreateError;
use crate::sys::sync::Arc;
use std::fmt;

/// A handle of a callback that runs before or after parameters change; dropping the handle removes
/// the callback, which doesn't start any more. Returned by
/// [`Node::on_pre_set_parameters`](crate::Node::on_pre_set_parameters),
/// [`Node::on_set_parameters`](crate::Node::on_set_parameters) and
/// [`Node::on_post_set_parameters`](crate::Node::on_post_set_parameters).
#[must_use = "the callback goes when its handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _checked = ..`), or `detach()` it"]
pub struct ParameterCallback {
    node: Arc<NodeCore>,
    number: u64,
}

impl ParameterCallback {
    /// Removes the callback, and waits until it has returned if another thread is setting
    /// parameters. In a callback for parameters of this node it doesn't wait, nor in one of another
    /// node for which that thread waits. Dropping the handle waits for nothing.
    pub fn close(self) {
        let node = self.node.clone();
        drop(self);
        if let Some(table) = node.parameters.get() {
            table.wait_for_turn();
        }
    }

    /// Keeps the callback until the context ends, as [`Timer::detach`](crate::Timer::detach) does.
    pub fn detach(self) {
        let session = self.node.context.session.clone();
        session.detach(self);
    }
}

impl Drop for ParameterCallback {
    fn drop(&mut self) {
        if let Some(table) = self.node.parameters.get() {
            table.remove_callback(self.number);
        }
    }
}

impl fmt::Debug for ParameterCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParameterCallback(of {})", self.node.full_name)
    }
}

impl Node {
    /// Adds a callback that receives a list of values before they are set, and may change, add and
    /// remove values. The node refuses an empty list. Several callbacks run in reverse order: the
    /// one added last runs first. (ROS 2: `add_pre_set_parameters_callback`.)
    ///
    /// The callback runs on the thread that sets the parameters or, for a request from another
    /// process, on the thread that receives the request. No lock is held. The callback may read
    /// parameters. Declaring or setting a parameter of this node in it is an error
    /// ([`ParameterError::InCallback`](crate::error::ParameterError::InCallback)), and so it is for
    /// another node if a callback of that node, on another thread, waits for this one. A panic in
    /// it reaches the thread that sets the parameters; a caller of the service gets a failure.
    ///
    /// # Errors
    /// [`CreateError`]: the node's parameter services can't be created.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::NamedValue;
    /// let node = Context::new()?.node("lamp")?;
    /// let on = node.parameter("on").default(false).create()?;
    /// let power = node.parameter("power").default(0.0).create()?;
    /// let _on_has_power = node.on_pre_set_parameters(|values: &mut Vec<NamedValue>| {
    ///     if values.iter().any(|one| *one == NamedValue::new("on", true)) {
    ///         values.push(NamedValue::new("power", 1.0));
    ///     }
    /// })?;
    /// on.set(true)?;
    /// assert_eq!(power.get(), 1.0);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_pre_set_parameters(
        &self,
        callback: impl Fn(&mut Vec<NamedValue>) + Send + Sync + 'static,
    ) -> Result<ParameterCallback, CreateError> {
        self.add(Callback::Pre(Arc::new(callback)))
    }

    /// Adds a callback that accepts or refuses values, after the node has checked their types and
    /// ranges. If the callback returns an error, the node sets none of the values, and the caller
    /// gets the error's text. The callback also runs for the values of parameters that are being
    /// declared. Otherwise as [`on_pre_set_parameters`](Self::on_pre_set_parameters). (ROS 2:
    /// `add_on_set_parameters_callback`.)
    ///
    /// # Errors
    /// As [`on_pre_set_parameters`](Self::on_pre_set_parameters).
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::{NamedValue, ParameterValue};
    /// let node = Context::new()?.node("camera")?;
    /// let mode = node.parameter("mode").default("fast".to_owned()).create()?;
    /// let _checked = node.on_set_parameters(|values: &[NamedValue]| {
    ///     match values.iter().find(|one| one.name == "mode").map(|one| &one.value) {
    ///         Some(ParameterValue::String(mode)) if mode == "off" => Err("the camera is in use".to_owned()),
    ///         _ => Ok(()),
    ///     }
    /// })?;
    /// assert!(mode.set("off").unwrap_err().to_string().ends_with("the camera is in use"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_set_parameters(
        &self,
        callback: impl Fn(&[NamedValue]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Result<ParameterCallback, CreateError> {
        self.add(Callback::On(Arc::new(callback)))
    }

    /// Adds a callback that runs after values were set and their change was published, and before
    /// the caller that set them gets its answer. Otherwise as
    /// [`on_pre_set_parameters`](Self::on_pre_set_parameters). To act on an executor's thread, let
    /// it trigger a [`GuardCondition`](crate::GuardCondition), or use a struct's
    /// [`on_change`](crate::parameters::ParameterSet::on_change). (ROS 2:
    /// `add_post_set_parameters_callback`.)
    ///
    /// # Errors
    /// As [`on_pre_set_parameters`](Self::on_pre_set_parameters).
    pub fn on_post_set_parameters(
        &self,
        callback: impl Fn(&[NamedValue]) + Send + Sync + 'static,
    ) -> Result<ParameterCallback, CreateError> {
        self.add(Callback::Post(Arc::new(callback)))
    }

    fn add(&self, callback: Callback) -> Result<ParameterCallback, CreateError> {
        let number = table_of(self.core())?.add_callback(callback);
        Ok(ParameterCallback { node: self.core().clone(), number })
    }
}
