//! Declaring a parameter: its builder and its handle.

use super::node::table_of;
use crate::api::node::NodeCore;
use crate::parameters::descriptor::ParameterDescriptor;
use crate::parameters::error::ParameterError;
use crate::parameters::field::{ParameterCell, ParameterField, RangedField, Store, Typed};
use crate::parameters::spec::Declaration;
use crate::parameters::table::{ParameterTable, Refusal};
use crate::parameters::value::{NamedValue, ParameterValue};
use crate::ros::failure::CreateError;
use crate::sys::sync::Arc;
use std::fmt;
use std::ops::RangeInclusive;

/// The type that handles of a parameter of type `T` return: `T` itself for numbers, booleans and
/// enums, `Arc<T>` for all others.
pub type Read<T> = <<T as ParameterField>::Cell as ParameterCell<T>>::Read;

/// A parameter of a node, with its current value.
///
/// Made by [`Node::parameter`](crate::Node::parameter). Clones refer to the same parameter. A
/// handle keeps the node alive; the parameter stays declared when the last handle is dropped.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::new()?;
/// let node = context.node("control")?;
/// let gain = node.parameter("gain").default(1.5).range(0.0..=10.0).description("Proportional gain.").create()?;
/// let mut command = 0.0;
/// let _timer = node.timer(Duration::from_millis(1)).callback({
///     let gain = gain.clone();
///     move || command = gain.get() * 2.0 // no lock, no allocation
/// })?;
/// gain.set(3.0)?;
/// assert_eq!(gain.get(), 3.0);
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Parameter<T: ParameterField> {
    cell: Arc<Typed<T>>,
    table: Arc<ParameterTable>,
    name: Arc<str>,
    node: Arc<NodeCore>,
}

impl<T: ParameterField> Parameter<T> {
    /// Returns the current value, or the last one if the parameter was undeclared. Any thread may
    /// call this method. It takes no lock, allocates nothing and never waits; reading a number
    /// takes a few nanoseconds.
    #[inline]
    pub fn get(&self) -> Read<T> {
        self.cell.0.read()
    }

    /// Sets the parameter, as other nodes do by service: callbacks run, and the node publishes the
    /// change. Blocks while another thread declares or sets parameters of the node.
    ///
    /// # Errors
    /// [`ParameterError`]: for example, the parameter is read-only, or a callback refuses the
    /// value.
    pub fn set(&self, value: impl Into<T>) -> Result<(), ParameterError> {
        let (name, value) = (self.name.to_string(), value.into().into_value());
        let turn = self.table.turn()?;
        let value = value.map_err(|reason| turn.refused(Refusal::of(&name, &reason)))?;
        let named = NamedValue { name, value };
        turn.set(vec![named]).map_err(|refusal| turn.refused(refusal))
    }

    /// Returns the parameter's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<T: ParameterField> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        Self {
            cell: self.cell.clone(),
            table: self.table.clone(),
            name: self.name.clone(),
            node: self.node.clone(),
        }
    }
}

impl<T: ParameterField> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parameter({} of {})", self.name, self.node.full_name)
    }
}

/// A builder of a parameter that has no type yet; from [`Node::parameter`](crate::Node::parameter).
#[must_use = "nothing is declared before `create`"]
pub struct UntypedParameter {
    node: Arc<NodeCore>,
    name: String,
}

impl UntypedParameter {
    pub(in crate::api) fn new(node: Arc<NodeCore>, name: &str) -> Self {
        Self { node, name: name.to_owned() }
    }

    /// Sets the type, and the value for a parameter that the command line, files and the program
    /// leave unset.
    pub fn default<T: ParameterField>(self, value: T) -> ParameterBuilder<T> {
        self.of(value.into_value())
    }

    /// Sets the type, without a default: `create` fails unless the command line, a file or the
    /// program sets a value.
    pub fn required<T: ParameterField>(self) -> ParameterBuilder<T> {
        self.of(Ok(ParameterValue::NotSet))
    }

    /// Sets the type, and allows the parameter to have no value. A value that was set can't be
    /// removed.
    pub fn optional<T: ParameterField>(self) -> ParameterBuilder<Option<T>> {
        self.of(Ok(ParameterValue::NotSet))
    }

    /// Allows values of any type; the type may change later. Setting the parameter to
    /// [`NotSet`](crate::parameters::ParameterValue::NotSet) undeclares it.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::ParameterValue;
    /// let node = Context::new()?.node("any")?;
    /// let any = node.parameter("any").dynamic(1).create()?;
    /// any.set("one")?;
    /// assert_eq!(*any.get(), ParameterValue::from("one"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn dynamic(self, value: impl Into<ParameterValue>) -> ParameterBuilder<ParameterValue> {
        let mut builder: ParameterBuilder<ParameterValue> = self.of(Ok(value.into()));
        builder.declaration.descriptor.dynamic_typing = true;
        builder
    }

    fn of<T: ParameterField>(self, default: Result<ParameterValue, String>) -> ParameterBuilder<T> {
        let mut descriptor = ParameterDescriptor::new(self.name, T::TYPE);
        T::constrain(&mut descriptor);
        let (declaration, of) = (Declaration::new::<T>(descriptor, default), std::marker::PhantomData);
        ParameterBuilder { node: self.node, declaration, of }
    }
}

/// A builder that declares a [`Parameter`]; from [`Node::parameter`](crate::Node::parameter).
#[must_use = "nothing is declared before `create`"]
pub struct ParameterBuilder<T: ParameterField> {
    node: Arc<NodeCore>,
    declaration: Declaration,
    of: std::marker::PhantomData<fn(T)>,
}

impl<T: ParameterField> ParameterBuilder<T> {
    /// Sets the description that tools show. Default: none.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.declaration.descriptor.description = text.into();
        self
    }

    /// Sets the text with which tools describe constraints beyond type and range. Default: none,
    /// except for enums.
    pub fn constraints(mut self, text: impl Into<String>) -> Self {
        self.declaration.descriptor.additional_constraints = text.into();
        self
    }

    /// Makes the parameter read-only: its value can't change after the declaration. The command
    /// line and files still set the value.
    pub fn read_only(mut self) -> Self {
        self.declaration.descriptor.read_only = true;
        self
    }

    /// Always declares the parameter with its default: the command line and files don't set the
    /// value.
    pub fn ignore_overrides(mut self) -> Self {
        self.declaration.ignore_overrides = true;
        self
    }

    /// Declares the parameter.
    ///
    /// # Errors
    /// [`CreateError`]: a [`ParameterError`] (for example, a value of another type or out of range,
    /// or a parameter that is already declared); the node's parameter services can't be created; or
    /// the context is shut down.
    pub fn create(self) -> Result<Parameter<T>, CreateError> {
        let Self { node, declaration, .. } = self;
        let table = table_of(&node)?.clone();
        let name: Arc<str> = declaration.descriptor.name.as_str().into();
        table.turn()?.declare(vec![declaration])?;
        let no_handle = || ParameterError::NoSuchType {
            node: table.node.to_string(),
            name: name.to_string(),
            reason: "it was undeclared meanwhile".to_owned(),
        };
        let cell = table.look(&name, |entry| entry.cell.clone()).map(Store::as_any);
        let cell = cell.and_then(|cell| cell.downcast::<Typed<T>>().ok()).ok_or_else(no_handle)?;
        Ok(Parameter { cell, table, name, node })
    }
}

impl<T: RangedField> ParameterBuilder<T> {
    /// Restricts the values to the range, both bounds included. Default: all are allowed.
    pub fn range(mut self, range: RangeInclusive<T>) -> Self {
        T::restrict(&mut self.declaration.descriptor, range, None);
        self
    }

    /// Restricts the values to the start of the range plus multiples of `step`, and the end of the
    /// range.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let node = Context::new()?.node("stepper")?;
    /// let angle = node.parameter("angle").default(0).range_in_steps(0..=100, 25).create()?;
    /// assert!(angle.set(75).is_ok() && angle.set(80).is_err());
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn range_in_steps(mut self, range: RangeInclusive<T>, step: T) -> Self {
        T::restrict(&mut self.declaration.descriptor, range, Some(step));
        self
    }
}
