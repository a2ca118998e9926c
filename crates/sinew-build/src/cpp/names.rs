//! C++ names for definitions.

use sinew_msg::definition::{ElementType, FieldType, Primitive, Shape, TypeName};

/// The keywords of C++20, with the alternative forms of operators, that a field can be called. The
/// others contain capital letters or two underscores.
const KEYWORDS: [&str; 96] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    // Macros of GCC and Clang, unless they are called with `-std=c++17` or the like; and of
    // <cerrno>.
    "errno",
    "i386",
    "linux",
    "unix",
];

/// Returns the identifier of a field or package.
pub(super) fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// Returns the namespace of a type: `std_msgs::msg`.
pub(super) fn namespace(name: &TypeName) -> String {
    format!("{}::{}", identifier(name.package()), name.kind())
}

/// Returns the type with its namespace, seen from anywhere: `::std_msgs::msg::Header`.
pub(super) fn qualified(name: &TypeName) -> String {
    format!("::{}::{}", namespace(name), name.base())
}

/// Returns the path by which the header of a type is included: `std_msgs/msg/header.hpp`. Derived
/// types are in the header of the definition.
pub(super) fn header_path(name: &TypeName) -> String {
    let base = name.base().split('_').next().unwrap_or_default();
    format!("{}/{}/{}.hpp", name.package(), name.kind(), snake_case(base))
}

/// Converts a name as ROS 2 does for headers: `PointCloud2` to `point_cloud2`, `UInt8` to `u_int8`,
/// `Pose2D` to `pose2_d`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let is = |index: usize, test: fn(&char) -> bool| letters.get(index).is_some_and(test);
    let mut text = String::new();
    // ROS 2 first splits before each word of a capital and small letters. The letter before the
    // word ends a match, so it can't be the small letter of one that the same match splits off.
    let mut word_begins = vec![false; letters.len()];
    let mut at = 0;
    while at < letters.len() {
        let is_word = is(at + 1, char::is_ascii_uppercase) && is(at + 2, char::is_ascii_lowercase);
        if is_word {
            word_begins[at + 1] = true;
            at += 2;
            while is(at, char::is_ascii_lowercase) {
                at += 1;
            }
        } else {
            at += 1;
        }
    }
    for (index, letter) in letters.iter().enumerate() {
        let follows_small = index > 0
            && letter.is_ascii_uppercase()
            && is(index - 1, |before| before.is_ascii_lowercase() || before.is_ascii_digit());
        if word_begins[index] || follows_small {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// Returns the type of a field, in a template with the parameter `ContainerAllocator`.
pub(super) fn field(FieldType { element: of, shape }: &FieldType) -> String {
    let element = element(of);
    match shape {
        Shape::Single => element,
        Shape::Array(count) => format!("::std::array<{element}, {count}>"),
        Shape::BoundedSequence(bound) => {
            format!("::sinew::field::BoundedSequence<{element}, {bound}, ContainerAllocator>")
        }
        Shape::Sequence => format!("::sinew::field::Sequence<{element}, ContainerAllocator>"),
    }
}

/// Returns the type of an element of a field.
pub(super) fn element(element: &ElementType) -> String {
    match element {
        ElementType::Primitive(primitive) => cpp_primitive(*primitive).to_owned(),
        ElementType::String { .. } => "::sinew::field::String<ContainerAllocator>".to_owned(),
        ElementType::WString { .. } => "::sinew::field::WString<ContainerAllocator>".to_owned(),
        ElementType::Message(name) => format!("{}_<ContainerAllocator>", qualified(name)),
    }
}

pub(super) fn cpp_primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte => "unsigned char",
        Primitive::Char | Primitive::Uint8 => "::std::uint8_t",
        Primitive::Int8 => "::std::int8_t",
        Primitive::Int16 => "::std::int16_t",
        Primitive::Uint16 => "::std::uint16_t",
        Primitive::Int32 => "::std::int32_t",
        Primitive::Uint32 => "::std::uint32_t",
        Primitive::Int64 => "::std::int64_t",
        Primitive::Uint64 => "::std::uint64_t",
        Primitive::Float32 => "float",
        Primitive::Float64 => "double",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the headers in ROS 2 Jazzy.
    #[test]
    fn headers_are_named_as_in_ros_2() {
        for (name, header) in [
            ("std_msgs/msg/UInt8MultiArray", "std_msgs/msg/u_int8_multi_array.hpp"),
            ("std_msgs/msg/ColorRGBA", "std_msgs/msg/color_rgba.hpp"),
            ("geometry_msgs/msg/Pose2D", "geometry_msgs/msg/pose2_d.hpp"),
            ("geometry_msgs/msg/Point32", "geometry_msgs/msg/point32.hpp"),
            ("sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/point_cloud2.hpp"),
            ("sensor_msgs/msg/MultiDOFJointState", "sensor_msgs/msg/multi_dof_joint_state.hpp"),
            ("unique_identifier_msgs/msg/UUID", "unique_identifier_msgs/msg/uuid.hpp"),
            ("test_msgs/msg/WStrings", "test_msgs/msg/w_strings.hpp"),
            ("tf2_msgs/msg/TF2Error", "tf2_msgs/msg/tf2_error.hpp"),
            ("a/srv/AddTwoInts_Request", "a/srv/add_two_ints.hpp"),
        ] {
            assert_eq!(header_path(&name.parse().unwrap()), header);
        }
    }

    #[test]
    fn keywords_get_an_underscore() {
        assert_eq!(["class", "linux", "type"].map(identifier), ["class_", "linux_", "type"]);
    }
}
