//! Values and descriptors as messages of `rcl_interfaces`, and back. Messages from other processes
//! may hold anything.

use crate::parameters::descriptor::{DoubleRange, IntegerRange, ParameterDescriptor};
use crate::parameters::value::{NamedValue, ParameterType, ParameterValue};
use sinew_interfaces::rcl_interfaces::msg;

pub(super) fn value_to_msg(value: ParameterValue) -> msg::ParameterValue {
    let mut message = msg::ParameterValue { r#type: value.kind() as u8, ..Default::default() };
    match value {
        ParameterValue::NotSet => {}
        ParameterValue::Bool(value) => message.bool_value = value,
        ParameterValue::Integer(value) => message.integer_value = value,
        ParameterValue::Double(value) => message.double_value = value,
        ParameterValue::String(value) => message.string_value = value,
        ParameterValue::ByteArray(value) => message.byte_array_value = value,
        ParameterValue::BoolArray(value) => message.bool_array_value = value,
        ParameterValue::IntegerArray(value) => message.integer_array_value = value,
        ParameterValue::DoubleArray(value) => message.double_array_value = value,
        ParameterValue::StringArray(value) => message.string_array_value = value,
    }
    message
}

/// Returns `None` for an unknown type.
pub(in crate::api) fn value_of_msg(message: msg::ParameterValue) -> Option<ParameterValue> {
    Some(match ParameterType::from_number(message.r#type)? {
        ParameterType::NotSet => ParameterValue::NotSet,
        ParameterType::Bool => ParameterValue::Bool(message.bool_value),
        ParameterType::Integer => ParameterValue::Integer(message.integer_value),
        ParameterType::Double => ParameterValue::Double(message.double_value),
        ParameterType::String => ParameterValue::String(message.string_value),
        ParameterType::ByteArray => ParameterValue::ByteArray(message.byte_array_value),
        ParameterType::BoolArray => ParameterValue::BoolArray(message.bool_array_value),
        ParameterType::IntegerArray => ParameterValue::IntegerArray(message.integer_array_value),
        ParameterType::DoubleArray => ParameterValue::DoubleArray(message.double_array_value),
        ParameterType::StringArray => ParameterValue::StringArray(message.string_array_value),
    })
}

impl ParameterValue {
    /// Converts ROS 2's message. Returns `None` if its type is a number that ROS 2 doesn't have.
    ///
    /// ```
    /// use sinew::parameters::ParameterValue;
    /// use sinew_interfaces::rcl_interfaces::msg;
    /// let message = msg::ParameterValue { r#type: 2, integer_value: 7, ..Default::default() };
    /// assert_eq!(ParameterValue::from_msg(message), Some(ParameterValue::Integer(7)));
    /// let unknown = msg::ParameterValue { r#type: 99, ..Default::default() };
    /// assert_eq!(ParameterValue::from_msg(unknown), None);
    /// ```
    pub fn from_msg(message: msg::ParameterValue) -> Option<Self> {
        value_of_msg(message)
    }

    /// Converts to ROS 2's message.
    pub fn to_msg(self) -> msg::ParameterValue {
        value_to_msg(self)
    }
}

pub(in crate::api) fn named_to_msg(named: &NamedValue) -> msg::Parameter {
    msg::Parameter { name: named.name.clone(), value: value_to_msg(named.value.clone()) }
}

/// The error is the name of a parameter with an unknown type.
pub(super) fn named_of_msg(message: msg::Parameter) -> Result<NamedValue, String> {
    let msg::Parameter { name, value } = message;
    match value_of_msg(value) {
        Some(value) => Ok(NamedValue { name, value }),
        None => Err(name),
    }
}

pub(super) fn descriptor_to_msg(descriptor: &ParameterDescriptor) -> msg::ParameterDescriptor {
    let double = descriptor.double_range.map(|DoubleRange { from, to, step }| msg::FloatingPointRange {
        from_value: from,
        to_value: to,
        step,
    });
    let integer = descriptor.integer_range.map(|IntegerRange { from, to, step }| msg::IntegerRange {
        from_value: from,
        to_value: to,
        step,
    });
    msg::ParameterDescriptor {
        name: descriptor.name.clone(),
        r#type: descriptor.kind as u8,
        description: descriptor.description.clone(),
        additional_constraints: descriptor.additional_constraints.clone(),
        read_only: descriptor.read_only,
        dynamic_typing: descriptor.dynamic_typing,
        // The bound allows one element.
        floating_point_range: Vec::from_iter(double).try_into().unwrap_or_default(),
        integer_range: Vec::from_iter(integer).try_into().unwrap_or_default(),
    }
}

pub(in crate::api) fn descriptor_of_msg(message: msg::ParameterDescriptor) -> ParameterDescriptor {
    let double = message.floating_point_range.first();
    let integer = message.integer_range.first();
    ParameterDescriptor {
        name: message.name,
        kind: ParameterType::from_number(message.r#type).unwrap_or(ParameterType::NotSet),
        description: message.description,
        additional_constraints: message.additional_constraints,
        read_only: message.read_only,
        dynamic_typing: message.dynamic_typing,
        double_range: double.map(|range| DoubleRange {
            from: range.from_value,
            to: range.to_value,
            step: range.step,
        }),
        integer_range: integer.map(|range| IntegerRange {
            from: range.from_value,
            to: range.to_value,
            step: range.step,
        }),
    }
}
