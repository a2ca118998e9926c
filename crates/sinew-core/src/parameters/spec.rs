//! Structs of parameters: the parts of `derive(Parameters)`.

use super::descriptor::ParameterDescriptor;
use super::field::{ParameterField, RangedField, Store, Typed};
use super::value::{NamedValue, ParameterType, ParameterValue};
use crate::parameters::field::ParameterCell;
use crate::sys::sync::Arc;
use std::ops::RangeInclusive;

/// A struct with fields that are parameters; `#[derive(Parameters)]` implements it.
///
/// Each field is a parameter of the field's name, with its doc comment as description. A field that
/// is itself such a struct has its parameters under its name: `limits.speed`.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::parameters::Parameters;
///
/// /// How the wheels are driven.
/// #[derive(Parameters)]
/// #[parameters(validate = Drive::check)]
/// struct Drive {
///     /// Proportional gain.
///     #[parameter(default = 1.5, range = 0.0..=10.0)]
///     gain: f64,
///     /// What happens at an obstacle.
///     #[parameter(default = Mode::Stop)]
///     mode: Mode,
///     /// The port of the motors.
///     #[parameter(default = "/dev/ttyS0", read_only)]
///     port: String,
///     limits: Limits,
///     /// Not set: the motor's own.
///     current: Option<f64>,
/// }
///
/// #[derive(Parameters)]
/// struct Limits {
///     /// In m/s.
///     #[parameter(default = 2.0)]
///     speed: f64,
/// }
///
/// #[derive(Parameters, Debug, PartialEq)]
/// enum Mode { Stop, GoAround }
///
/// impl Drive {
///     fn check(&self) -> Result<(), String> {
///         if self.mode == Mode::GoAround && self.limits.speed > 3.0 {
///             return Err("too fast to go around obstacles".to_owned());
///         }
///         Ok(())
///     }
/// }
///
/// let line = ["base", "--ros-args", "-p", "mode:=go_around"];
/// let context = Context::builder().arguments(line).shared_memory(false).build()?;
/// let node = context.node("base")?;
/// let drive = node.parameters::<Drive>()?;
/// let now = drive.get(); // all values of one moment
/// assert_eq!((now.gain, &now.mode, now.limits.speed), (1.5, &Mode::GoAround, 2.0));
/// assert!(node.set_parameter("limits.speed", 4.0).is_err());
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// | on a field: `#[parameter(..)]` | |
/// |---|---|
/// | `default = EXPRESSION` | its default value; without it, that of `Default` |
/// | `range = A..=B`, `step = S` | for numbers: both bounds belong to the range |
/// | `read_only` | only the program's start can set it; also for all fields of a struct |
/// | `name = "NAME"` | instead of the field's name, or of an enum variant's in `snake_case` |
/// | `constraints = "TEXT"` | `additional_constraints` of its description |
///
/// A literal as a default is converted: `"text"`, `["a", "b"]`, `[0.5; 3]`, `2` for a double, also
/// for an `Option`. A range of doubles may have whole numbers as bounds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no struct of parameters",
    note = "write `#[derive(Parameters)]` above it"
)]
pub trait Parameters: Send + Sync + Sized + 'static {
    #[doc(hidden)]
    fn declare_in(prefix: &str, read_only: bool, to: &mut Declarations);

    #[doc(hidden)]
    fn read(prefix: &str, values: &Values) -> Result<Self, String>;

    /// Checks whether the values are consistent with each other, before they are declared or set. A
    /// derived implementation calls the function that `#[parameters(validate = ..)]` names.
    ///
    /// # Errors
    /// The reason why they aren't, for the caller that sets them.
    fn validate(&self) -> Result<(), String>;
}

/// One field of such a struct: a parameter, or a struct of them.
#[doc(hidden)]
pub trait Field: Sized {
    fn declare(name: &str, spec: Spec<Self>, read_only: bool, to: &mut Declarations);

    fn read(name: &str, values: &Values) -> Result<Self, String>;

    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

impl<T: ParameterField> Field for T {
    fn declare(name: &str, spec: Spec<Self>, read_only: bool, to: &mut Declarations) {
        to.0.push(spec.declaration(name, read_only));
    }

    fn read(name: &str, values: &Values) -> Result<Self, String> {
        let value = values.0.iter().find(|known| known.name == name);
        T::from_value(value.map_or(&ParameterValue::NotSet, |known| &known.value))
            .map_err(|reason| format!("parameter '{name}': {reason}"))
    }
}

/// The attributes of a field.
#[doc(hidden)]
pub struct Spec<T> {
    default: Option<T>,
    description: &'static str,
    constraints: &'static str,
    read_only: bool,
    /// The range, the step, and the function that adds them to a descriptor.
    range: Option<(RangeInclusive<T>, Option<T>, Restrict<T>)>,
}

type Restrict<T> = fn(&mut ParameterDescriptor, RangeInclusive<T>, Option<T>);

impl<T> Spec<T> {
    pub fn new(description: &'static str) -> Self {
        Self { default: None, description, constraints: "", read_only: false, range: None }
    }

    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// For a struct: whether all of its parameters are read-only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
}

impl<T: ParameterField> Spec<T> {
    #[must_use]
    pub fn default(mut self, value: T) -> Self {
        self.default = Some(value);
        self
    }

    #[must_use]
    pub fn constraints(mut self, text: &'static str) -> Self {
        self.constraints = text;
        self
    }
}

impl<T: ParameterField + Default> Spec<T> {
    /// Sets the type's default if no other is given.
    #[must_use]
    pub fn or_standard(self) -> Self {
        self.default(T::default())
    }
}

/// The same method for types without a default, and for structs of parameters: an inherent method
/// takes precedence over a trait's.
#[doc(hidden)]
pub trait OrStandard: Sized {
    #[must_use]
    fn or_standard(self) -> Self {
        self
    }
}

impl<T> OrStandard for Spec<T> {}

/// Conversion of a literal in `#[parameter(default = ..)]`: arrays become lists, string literals
/// `String`s, whole numbers doubles where a double is needed.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Literal}` can't be the default of a parameter of type `{Self}`",
    note = "`default = EXPRESSION` takes any value of that type, too, as in `default = vec![..]`"
)]
pub trait DefaultOf<Literal>: Sized {
    fn default_of(literal: Literal) -> Self;
}

/// An array without elements.
#[doc(hidden)]
pub struct NoElements;

impl<T> DefaultOf<NoElements> for Vec<T> {
    fn default_of(_: NoElements) -> Self {
        Self::new()
    }
}

macro_rules! literals {
    ($($type:ty: $literal:ty),* $(,)?) => {$(
        impl DefaultOf<$literal> for $type {
            fn default_of(literal: $literal) -> Self {
                literal.into()
            }
        }
    )*};
}

literals!(
    bool: bool, i8: i8, i16: i16, i32: i32, i64: i64, isize: isize, u8: u8, u16: u16, u32: u32, u64: u64, usize: usize,
    f32: f32, f64: f64, f64: i32, String: &str, String: String,
    ParameterValue: bool, ParameterValue: i64, ParameterValue: f64, ParameterValue: &str,
);

impl DefaultOf<i16> for f32 {
    fn default_of(literal: i16) -> Self {
        literal.into()
    }
}

impl<Literal, T: DefaultOf<Literal>> DefaultOf<Literal> for Option<T> {
    fn default_of(literal: Literal) -> Self {
        Some(T::default_of(literal))
    }
}

impl<Literal, T: DefaultOf<Literal>, const N: usize> DefaultOf<[Literal; N]> for Vec<T> {
    fn default_of(literal: [Literal; N]) -> Self {
        literal.into_iter().map(T::default_of).collect()
    }
}

impl<T: ParameterField> Spec<T> {
    #[must_use]
    pub fn default_of<Literal>(self, literal: Literal) -> Self
    where
        T: DefaultOf<Literal>,
    {
        self.default(T::default_of(literal))
    }
}

impl<T: RangedField> Spec<T> {
    #[must_use]
    pub fn range(mut self, range: RangeInclusive<T>) -> Self {
        self.range = Some((range, None, T::restrict));
        self
    }

    /// Sets a range from literals, for instance whole numbers for doubles.
    #[must_use]
    pub fn range_of<From, To>(self, from: From, to: To) -> Self
    where
        T: DefaultOf<From> + DefaultOf<To>,
    {
        self.range(T::default_of(from)..=T::default_of(to))
    }

    /// Sets the step, after the range.
    #[must_use]
    pub fn step_of<Literal>(mut self, step: Literal) -> Self
    where
        T: DefaultOf<Literal>,
    {
        if let Some((_, known, _)) = &mut self.range {
            *known = Some(T::default_of(step));
        }
        self
    }
}

impl<T: ParameterField> Spec<T> {
    fn declaration(self, name: &str, read_only: bool) -> Declaration {
        let mut descriptor = ParameterDescriptor::new(name, T::TYPE);
        T::constrain(&mut descriptor);
        self.description.clone_into(&mut descriptor.description);
        if !self.constraints.is_empty() {
            self.constraints.clone_into(&mut descriptor.additional_constraints);
        }
        descriptor.read_only = self.read_only || read_only;
        if let Some((range, step, restrict)) = self.range {
            restrict(&mut descriptor, range, step);
        }
        let default = self.default.map_or(Ok(ParameterValue::NotSet), T::into_value);
        Declaration::new::<T>(descriptor, default)
    }
}

/// The parameters of a struct, for declaration.
#[doc(hidden)]
#[derive(Default)]
pub struct Declarations(pub(crate) Vec<Declaration>);

/// A parameter, for declaration.
pub(crate) struct Declaration {
    pub(crate) descriptor: ParameterDescriptor,
    /// The value without an override; or why the program's isn't a value of ROS 2.
    pub(crate) default: Result<ParameterValue, String>,
    /// Whether the command line and files are ignored.
    pub(crate) ignore_overrides: bool,
    /// Makes the cell for its first value.
    pub(crate) cell: fn(&ParameterValue) -> Result<Arc<dyn Store>, String>,
}

impl Declaration {
    pub(crate) fn new<T: ParameterField>(
        descriptor: ParameterDescriptor,
        default: Result<ParameterValue, String>,
    ) -> Self {
        Self { descriptor, default, ignore_overrides: false, cell: typed::<T> }
    }

    /// A parameter with dynamic typing.
    pub(crate) fn dynamic(name: &str, value: ParameterValue) -> Self {
        let mut descriptor = ParameterDescriptor::new(name, ParameterType::NotSet);
        descriptor.dynamic_typing = true;
        Self::new::<ParameterValue>(descriptor, Ok(value))
    }
}

fn typed<T: ParameterField>(value: &ParameterValue) -> Result<Arc<dyn Store>, String> {
    Ok(Arc::new(Typed::<T>(T::Cell::new(T::from_value(value)?))))
}

/// The values of a struct's parameters at one moment.
#[doc(hidden)]
pub struct Values(pub(crate) Vec<NamedValue>);

/// Returns a field's full name.
#[doc(hidden)]
pub fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
