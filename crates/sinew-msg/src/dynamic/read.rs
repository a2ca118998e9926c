//! Converts trees to values: the field's type decides how each word is read.

use super::error::TextError;
use super::message::DynamicMessage;
use super::types::{DynamicElement, DynamicField, MessageType, names};
use super::value::{Scalar, Scalars, Value, integer_of};
use super::words::{integer, integer_of_other_base, truth, without_lines};
use crate::definition::{Primitive, Shape};
use crate::tree::{self, Room, Tree};
use std::collections::HashMap;
use std::sync::Arc;

impl DynamicMessage {
    /// Reads a message from YAML, as `ros2 topic pub` takes it: `{header: {frame_id: map}, point:
    /// {x: 1.5}}`.
    ///
    /// Missing fields have their default values. For a string, the text is taken as written, with
    /// or without quotes. Numbers and `bool`s must be unquoted, except `"nan"`, `"inf"` and
    /// `"-inf"`. They are written as in YAML 1.1, which ROS 2 reads: `yes` and `off` are `bool`s,
    /// `010` is 8 (so is `0o10`), and `1_000` is 1000. `1:30`, which is 90 in YAML 1.1, and
    /// `!!binary` are refused.
    ///
    /// ```
    /// # use sinew_msg::definition::{Definition, Definitions};
    /// # use sinew_msg::dynamic::{DynamicMessage, MessageType};
    /// # use std::sync::Arc;
    /// # let mut definitions = Definitions::new();
    /// # let name = "example_msgs/msg/Point".parse()?;
    /// # definitions.add(Definition::parse(&name, "Point.msg", "float64 x\nuint8 kind 3\nstring label")?)?;
    /// # let point = Arc::new(MessageType::of(&definitions.resolve()?, &name)?);
    /// // float64 x, uint8 kind 3, string label
    /// let message = DynamicMessage::from_yaml(&point, "{x: 1, label: base}")?;
    /// assert_eq!(message.to_json(), r#"{"x":1.0,"kind":3,"label":"base"}"#);
    ///
    /// let error = DynamicMessage::from_yaml(&point, "{kind: 300}").unwrap_err();
    /// assert_eq!(error.to_string(), "`kind`: found `300`, expected an integer from 0 to 255 for `uint8`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TextError`] if the text is not YAML or not a message of this type.
    pub fn from_yaml(message_type: &Arc<MessageType>, text: &str) -> Result<Self, TextError> {
        let mut room = Room::unlimited();
        read(message_type, tree::yaml(text, &mut room)?, room)
    }

    /// Reads a message from JSON: as [`from_yaml`](Self::from_yaml), but characters may be escaped
    /// as surrogate pairs, as in JSON.
    ///
    /// # Errors
    /// [`TextError`] if the text is neither JSON nor YAML, or not a message of this type.
    pub fn from_json(message_type: &Arc<MessageType>, text: &str) -> Result<Self, TextError> {
        Self::from_json_within(message_type, text, usize::MAX)
    }

    /// Reads a message from a JSON text of an untrusted sender: as [`from_json`](Self::from_json),
    /// but refuses a message for which values and texts of more than `limit` bytes would be held in
    /// memory.
    ///
    /// Without a limit, a short text may take much memory: each `{}` in a list stands for a message
    /// with all its default values.
    ///
    /// ```
    /// # use sinew_msg::definition::{Definition, Definitions};
    /// # use sinew_msg::dynamic::{DynamicMessage, MessageType};
    /// # use std::sync::Arc;
    /// # let mut definitions = Definitions::new();
    /// # let name = "example_msgs/msg/Grid".parse()?;
    /// # definitions.add(Definition::parse(&name, "Grid.msg", "Row[] rows")?)?;
    /// # let row = "example_msgs/msg/Row".parse()?;
    /// # definitions.add(Definition::parse(&row, "Row.msg", "float64[1000] cells")?)?;
    /// # let grid = Arc::new(MessageType::of(&definitions.resolve()?, &name)?);
    /// // Row[] rows; in a Row: float64[1000] cells
    /// assert!(DynamicMessage::from_json_within(&grid, r#"{"rows": [{}]}"#, 10_000).is_ok());
    /// assert!(DynamicMessage::from_json_within(&grid, r#"{"rows": [{}, {}]}"#, 10_000).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TextError`], also if the message exceeds the limit.
    pub fn from_json_within(
        message_type: &Arc<MessageType>,
        text: &str,
        limit: usize,
    ) -> Result<Self, TextError> {
        let mut room = Room::new(limit);
        read(message_type, tree::json(text, &mut room)?, room)
    }
}

fn read(message_type: &Arc<MessageType>, tree: Tree, room: Room) -> Result<DynamicMessage, TextError> {
    let mut reading = Reading { message_type, path: Vec::new(), place: Vec::new(), times: None, room };
    reading.message(tree)
}

/// Reads a message with times that may be left open. Also returns their places, as numbers of
/// fields and elements.
pub(super) fn read_open(
    message_type: &Arc<MessageType>,
    tree: Tree,
) -> Result<(DynamicMessage, Vec<Vec<usize>>), TextError> {
    let (times, room) = (Some(Vec::new()), Room::unlimited());
    let mut reading = Reading { message_type, path: Vec::new(), place: Vec::new(), times, room };
    let message = reading.message(tree)?;
    Ok((message, reading.times.unwrap_or_default()))
}

struct Reading<'a> {
    message_type: &'a Arc<MessageType>,
    /// The path of the current value: names, each after a dot, and indices.
    path: Vec<String>,
    /// The same path as numbers of fields and elements.
    place: Vec<usize>,
    /// The places of open times; `None` if times must not be left open.
    times: Option<Vec<Vec<usize>>>,
    room: Room,
}

impl Reading<'_> {
    fn message(&mut self, tree: Tree) -> Result<DynamicMessage, TextError> {
        self.make_room(1, DynamicElement::Structure(0))?;
        Ok(DynamicMessage::of(self.message_type, self.structure(0, tree)?))
    }

    /// Takes the memory of elements, of which the text may leave out everything.
    fn make_room(&mut self, count: usize, element: DynamicElement) -> Result<(), TextError> {
        let memory = self.message_type.least_memory(element).saturating_mul(count);
        self.room.take(memory).map_err(|limit| TextError::TooLarge { path: self.path(), limit })
    }

    fn structure(&mut self, index: usize, tree: Tree) -> Result<Vec<Value>, TextError> {
        let message_type = self.message_type;
        let structure = message_type.structure(index);
        if self.is_left_open(index, &tree) {
            return Ok(message_type.default_fields(index));
        }
        let given = match tree {
            Tree::Mapping(fields) => fields,
            tree if tree.is_nothing() => Vec::new(),
            tree => {
                let fields = names(&structure.fields);
                let open = match self.times {
                    Some(_) if message_type.is_time(index) => ", or `now`",
                    Some(_) if message_type.stamp_of_header(index).is_some() => ", or `auto`",
                    _ => "",
                };
                return Err(self.wrong(&tree, format!("the fields of {}: {fields}{open}", structure.name)));
            }
        };
        let mut by_name = HashMap::with_capacity(given.len());
        for (name, tree) in given {
            if !structure.fields.iter().any(|field| field.name == name) {
                let (path, type_name) = (self.path_to(&name), structure.name.clone());
                return Err(TextError::UnknownField { path, type_name, fields: names(&structure.fields) });
            }
            if by_name.contains_key(&name) {
                return Err(TextError::Repeated { path: self.path_to(&name) });
            }
            by_name.insert(name, tree);
        }
        let mut values = Vec::with_capacity(structure.fields.len());
        for (number, field) in structure.fields.iter().enumerate() {
            values.push(match by_name.remove(&field.name) {
                Some(tree) => {
                    self.within(number, format!(".{}", field.name), |this| this.field(field, tree))?
                }
                None => message_type.default_value(field),
            });
        }
        Ok(values)
    }

    /// Returns whether the text leaves a time open here; if so, records its place.
    fn is_left_open(&mut self, index: usize, tree: &Tree) -> bool {
        let (Some(times), Tree::Plain(word) | Tree::Quoted(word)) = (&mut self.times, tree) else {
            return false;
        };
        let field = match word.as_str() {
            "now" if self.message_type.is_time(index) => None,
            "auto" => match self.message_type.stamp_of_header(index) {
                None => return false,
                stamp => stamp,
            },
            _ => return false,
        };
        times.push(self.place.iter().copied().chain(field).collect());
        true
    }

    fn field(&mut self, field: &DynamicField, tree: Tree) -> Result<Value, TextError> {
        if field.shape == Shape::Single {
            return self.element(field.element, tree);
        }
        let (count, bound) = match field.shape {
            Shape::Array(count) => (Some(count), count),
            Shape::BoundedSequence(bound) => (None, bound),
            Shape::Sequence | Shape::Single => (None, u32::MAX),
        };
        let items = match tree {
            Tree::Sequence(items) => items,
            tree => {
                let field_type = self.message_type.show(field.element, field.shape);
                return Err(self.wrong(&tree, format!("a list, such as `[1, 2]`, for `{field_type}`")));
            }
        };
        let found = u32::try_from(items.len()).ok();
        if found.is_none_or(|found| found > bound || count.is_some_and(|count| found != count)) {
            let field_type = self.message_type.show(field.element, field.shape);
            let most = if count.is_some() { "" } else { " at most" };
            let expected = format!("{bound}{most} for `{field_type}`");
            return Err(self.wrong(&Tree::Sequence(items), expected));
        }
        self.make_room(items.len(), field.element)?;
        let items = items.into_iter().enumerate();
        if let DynamicElement::Scalar(primitive) = field.element {
            let mut scalars = Scalars::new(primitive, Vec::new());
            for (index, item) in items {
                scalars.push(self.within(index, format!("[{index}]"), |this| this.scalar(primitive, &item))?);
            }
            return Ok(Value::Scalars(scalars));
        }
        let mut values = Vec::new();
        for (index, item) in items {
            values.push(self.within(index, format!("[{index}]"), |this| this.element(field.element, item))?);
        }
        Ok(Value::Values(values))
    }

    fn element(&mut self, element: DynamicElement, tree: Tree) -> Result<Value, TextError> {
        Ok(match element {
            DynamicElement::Scalar(primitive) => Value::Scalar(self.scalar(primitive, &tree)?),
            DynamicElement::String(bound) => Value::String(self.string(bound, tree)?.into_bytes()),
            DynamicElement::WString(bound) => {
                Value::WString(self.string(bound, tree)?.encode_utf16().collect())
            }
            DynamicElement::Structure(index) => Value::Structure(self.structure(index, tree)?),
        })
    }

    fn string(&self, bound: Option<u64>, tree: Tree) -> Result<String, TextError> {
        let nothing = tree.is_nothing();
        match tree {
            Tree::Plain(text) | Tree::Quoted(text) if !nothing => {
                let length = text.chars().count() as u64;
                match bound {
                    Some(bound) if length > bound => {
                        let found = format!("{length} characters");
                        Err(TextError::Value {
                            path: self.path(),
                            found,
                            expected: format!("{bound} at most"),
                        })
                    }
                    _ => Ok(text),
                }
            }
            tree => Err(self.wrong(&tree, "a text (an empty one is '')".to_owned())),
        }
    }

    fn scalar(&self, primitive: Primitive, tree: &Tree) -> Result<Scalar, TextError> {
        let read = match (primitive, tree) {
            (Primitive::Bool, Tree::Plain(text)) => truth(text).map(Scalar::Bool),
            (Primitive::Float32 | Primitive::Float64, Tree::Plain(text)) => float(primitive, text),
            (Primitive::Float32 | Primitive::Float64, Tree::Quoted(text)) => {
                special(text).map(|value| float_of(primitive, value))
            }
            (Primitive::Byte, Tree::Plain(text) | Tree::Quoted(text)) => byte(text, tree),
            (_, Tree::Plain(text)) => integer(text).and_then(|value| integer_of(primitive, value)),
            _ => None,
        };
        read.ok_or_else(|| {
            let expected = match (primitive, primitive.integers().map(std::ops::RangeInclusive::into_inner)) {
                (Primitive::Bool, _) => "`true` or `false` for `bool`".to_owned(),
                (_, Some((least, most))) => {
                    format!("an integer from {least} to {most} for `{}`", primitive.name())
                }
                (Primitive::Float32, None) => {
                    format!("a number from -{0:e} to {0:e} for `float32`", f32::MAX)
                }
                (_, None) => format!("a number for `{}`", primitive.name()),
            };
            self.wrong(tree, expected)
        })
    }

    /// Calls `read` with the path extended by one step.
    fn within<T>(
        &mut self,
        number: usize,
        step: String,
        read: impl FnOnce(&mut Self) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        self.path.push(step);
        self.place.push(number);
        let read = read(self)?; // the path is not used after an error
        self.path.pop();
        self.place.pop();
        Ok(read)
    }

    fn path(&self) -> String {
        let path = self.path.concat();
        match path.strip_prefix('.') {
            Some(path) => path.to_owned(),
            None => "(message)".to_owned(),
        }
    }

    fn path_to(&self, name: &str) -> String {
        let path = format!("{}.{name}", self.path.concat());
        path.strip_prefix('.').unwrap_or(&path).to_owned()
    }

    fn wrong(&self, tree: &Tree, expected: String) -> TextError {
        TextError::Value { path: self.path(), found: tree.found(), expected }
    }
}

/// Reads a byte: a number, or the character with that number, as it is printed.
fn byte(text: &str, tree: &Tree) -> Option<Scalar> {
    if let (Tree::Plain(_), Some(value)) = (tree, integer(text)) {
        return integer_of(Primitive::Byte, value);
    }
    let mut characters = text.chars();
    let (character, None) = (characters.next()?, characters.next()) else { return None };
    u8::try_from(character).ok().filter(|_| !tree.is_nothing()).map(|byte| Scalar::Unsigned(byte.into()))
}

/// Reads `nan`, `inf` and `-inf`, in the form of this crate's JSON or with YAML's leading point.
fn special(text: &str) -> Option<f64> {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (-1.0, magnitude),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match magnitude.strip_prefix('.').unwrap_or(magnitude).to_ascii_lowercase().as_str() {
        "inf" => Some(sign * f64::INFINITY),
        "nan" if !text.starts_with(['+', '-']) => Some(f64::NAN),
        _ => None,
    }
}

fn float(primitive: Primitive, text: &str) -> Option<Scalar> {
    if let Some(value) = special(text) {
        return Some(float_of(primitive, value));
    }
    if let Some(value) = integer_of_other_base(text) {
        #[expect(clippy::cast_precision_loss, reason = "to the nearest number that the type has")]
        return Some(match primitive {
            Primitive::Float32 => Scalar::Float32(value as f32),
            _ => Scalar::Float64(value as f64),
        });
    }
    let text = without_lines(text);
    // Rust would also read "infinity".
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b".+-eE".contains(&byte)) {
        return None;
    }
    // Parse as the field's own type: rounding twice may give another number.
    match primitive {
        Primitive::Float32 => text.parse().ok().filter(|value: &f32| value.is_finite()).map(Scalar::Float32),
        _ => text.parse().ok().filter(|value: &f64| value.is_finite()).map(Scalar::Float64),
    }
}

fn float_of(primitive: Primitive, value: f64) -> Scalar {
    match primitive {
        #[expect(clippy::cast_possible_truncation, reason = "to the nearest number that the type has")]
        Primitive::Float32 => Scalar::Float32(value as f32),
        _ => Scalar::Float64(value),
    }
}
