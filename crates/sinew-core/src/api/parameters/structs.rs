//! Declaring a struct of parameters, and its handle.

use super::node::table_of;
use crate::api::callback::EventCallback;
use crate::api::guard::{GuardCondition, GuardConditionBuilder};
use crate::api::node::NodeCore;
use crate::event::status::Triggered;
use crate::executor::group::{CallbackGroup, Group};
use crate::executor::group_token::GroupToken;
use crate::executor::task::CallbackResult;
use crate::parameters::spec::{Declarations, Parameters, Values};
use crate::parameters::table::Snapshot;
use crate::ros::failure::CreateError;
use crate::sys::sync::{Arc, Mutex, next_serial};
use arc_swap::ArcSwap;
use std::fmt;
use std::sync::OnceLock;

/// A struct of parameters of a node: their values, all of the same moment.
///
/// Made by [`Node::parameters`](crate::Node::parameters), or by the same method of a group, which
/// then runs the callbacks; [`Parameters`] has an example. Clones refer to the same set. A handle
/// keeps the node alive; the parameters stay declared when the last handle is dropped.
pub struct ParameterSet<T: Parameters, G = Group> {
    shared: Arc<Declared<T>>,
    node: Arc<NodeCore>,
    /// The group for callbacks.
    group: G,
}

/// The part of a struct's handle that the node's table holds as well.
struct Declared<T> {
    prefix: String,
    names: Vec<String>,
    now: ArcSwap<T>,
    /// The guard conditions that a change triggers, with their numbers.
    watching: Mutex<Vec<(u64, GuardCondition)>>,
}

impl<T: Parameters> Snapshot for Declared<T> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn prepare(self: Arc<Self>, values: Values) -> Result<Box<dyn FnOnce() + Send>, String> {
        let new = T::read(&self.prefix, &values)?;
        new.validate()?;
        let new = Arc::new(new);
        Ok(Box::new(move || {
            self.now.store(new);
            let watching: Vec<_> = self.watching.lock().iter().map(|(_, guard)| guard.clone()).collect();
            watching.iter().for_each(GuardCondition::trigger);
        }))
    }
}

/// A callback for the values of parameters; a guard condition runs it.
struct ValuesCallback<T, F> {
    shared: Arc<Declared<T>>,
    callback: F,
}

impl<T, G, Form, F> EventCallback<Triggered, G, ValuesCallback<T, Form>> for ValuesCallback<T, F>
where
    T: Parameters,
    F: EventCallback<T, G, Form>,
{
    type Cell = (Arc<Declared<T>>, F::Cell);

    fn cell(self, group: &G) -> Self::Cell {
        (self.shared, self.callback.cell(group))
    }

    fn call((shared, cell): &Self::Cell, group: &G, token: &mut GroupToken, _: &Triggered) -> CallbackResult {
        F::call(cell, group, token, &shared.now.load_full())
    }
}

impl<T: Parameters, G: CallbackGroup> ParameterSet<T, G> {
    /// Declares the parameters of a struct.
    pub(in crate::api) fn declare(group: &G, prefix: &str) -> Result<Self, CreateError> {
        let node = NodeCore::of(group.core());
        let table = table_of(&node)?;
        let mut declarations = Declarations::default();
        T::declare_in(prefix, false, &mut declarations);
        let made: OnceLock<Arc<Declared<T>>> = OnceLock::new();
        table.turn()?.declare_struct(declarations.0, |names, values| {
            let first = T::read(prefix, &values)?;
            first.validate()?;
            let (prefix, now) = (prefix.to_owned(), ArcSwap::from_pointee(first));
            let watching = Mutex::new(Vec::new());
            let declared = made.get_or_init(|| Arc::new(Declared { prefix, names, now, watching }));
            Ok(declared.clone() as Arc<dyn Snapshot>)
        })?;
        #[expect(clippy::expect_used, reason = "`declare_struct` makes it, or fails")]
        let shared = made.into_inner().expect("it was made");
        Ok(Self { shared, node, group: group.clone() })
    }

    /// Returns the current values, all of the same moment, even if several were set at once. Any
    /// thread may call this method. It takes no lock, allocates nothing and never waits.
    pub fn get(&self) -> Arc<T> {
        self.shared.now.load_full()
    }

    /// Adds a callback that the executor runs after a parameter of the struct has changed, with the
    /// values at the time of the run: several changes before the run cause one run. The callback
    /// runs in the group that declared the struct, or in the node's default group if the node
    /// declared it. It takes nothing, the values `&T`, the group's state `&mut S`, or the state and
    /// the values. Dropping the returned handle removes the callback.
    ///
    /// # Errors
    /// [`CreateError`]: the context is shut down.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::Parameters;
    /// #[derive(Parameters)]
    /// struct Limits { #[parameter(default = 2.0)] speed: f64 }
    ///
    /// let context = Context::new()?;
    /// let node = context.node("base")?;
    /// let limits = node.parameters::<Limits>()?;
    /// let _changes = limits.on_change(|limits: &Limits| println!("at most {} m/s", limits.speed))?;
    /// node.set_parameter("speed", 1.0)?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_change<Form, F>(&self, callback: F) -> Result<ParameterChanges, CreateError>
    where
        F: EventCallback<T, G, Form>,
    {
        self.on_change_in(&self.group, callback)
    }

    /// As [`on_change`](Self::on_change), but the callback runs in `group`, which may belong to
    /// another node.
    ///
    /// # Errors
    /// As [`on_change`](Self::on_change).
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::Parameters;
    /// #[derive(Parameters)]
    /// struct Limits { #[parameter(default = 2.0)] speed: f64 }
    ///
    /// let node = Context::new()?.node("base")?;
    /// let limits = node.parameters::<Limits>()?;
    /// let motor = node.group(0.0); // its state: the maximum speed
    /// let _changes = limits.on_change_in(&motor, |limit: &mut f64, limits: &Limits| *limit = limits.speed)?;
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_change_in<Other, Form, F>(
        &self,
        group: &Other,
        callback: F,
    ) -> Result<ParameterChanges, CreateError>
    where
        Other: CallbackGroup,
        F: EventCallback<T, Other, Form>,
    {
        let what = match &self.shared.prefix[..] {
            "" => "changed parameters".to_owned(),
            prefix => format!("changed parameters below {prefix}"),
        };
        let callback = ValuesCallback { shared: self.shared.clone(), callback };
        let guard = GuardConditionBuilder::new(group).called(what).callback(callback)?;
        let number = next_serial();
        self.shared.watching.lock().push((number, guard.clone()));
        let shared = self.shared.clone();
        let leave = move || {
            let mut watching = shared.watching.lock();
            let index = watching.iter().position(|(other, _)| *other == number);
            let gone = index.map(|index| watching.swap_remove(index));
            drop(watching);
            drop(gone); // it holds the program's code: outside the lock
        };
        Ok(ParameterChanges { _guard: guard, leave: Box::new(leave), node: self.node.clone() })
    }
}

impl<T: Parameters, G: Clone> Clone for ParameterSet<T, G> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), node: self.node.clone(), group: self.group.clone() }
    }
}

impl<T: Parameters, G> fmt::Debug for ParameterSet<T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParameterSet({} of {})", self.shared.names.join(", "), self.node.full_name)
    }
}

/// A handle of a callback for changes of a [struct of parameters](ParameterSet::on_change);
/// dropping the handle removes the callback.
#[must_use = "the callback goes when its handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _changes = ..`), or `detach()` it"]
pub struct ParameterChanges {
    _guard: GuardCondition,
    leave: Box<dyn Fn() + Send + Sync>,
    node: Arc<NodeCore>,
}

impl ParameterChanges {
    /// Keeps the callback until the context ends, as [`Timer::detach`](crate::Timer::detach) does.
    pub fn detach(self) {
        let session = self.node.context.session.clone();
        session.detach(self);
    }
}

impl Drop for ParameterChanges {
    fn drop(&mut self) {
        (self.leave)();
    }
}

impl fmt::Debug for ParameterChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParameterChanges(of {})", self.node.full_name)
    }
}
