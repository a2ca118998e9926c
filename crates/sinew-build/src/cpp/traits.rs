//! What is known of a message type at compile time, and its text.

use super::builder::first;
use super::names::{identifier, namespace, qualified};
use crate::known::Known;
use crate::layout::{Layouts, Plain};
use crate::message::header;
use crate::template::fill;
use sinew_msg::definition::{
    ElementType, FieldDefinition, Interface, Interfaces, Primitive, Shape, TypeName,
};

const TEXT: &str = "
namespace $namespace
{

template<class ContainerAllocator>
void to_flow_style_yaml(const ${name}_<ContainerAllocator> & msg, ::std::ostream & out)
{
  ::sinew::yaml::Flow(out).message(msg);
}

template<class ContainerAllocator>
void to_block_style_yaml(
  const ${name}_<ContainerAllocator> & msg, ::std::ostream & out, ::std::size_t indentation = 0)
{
  ::sinew::yaml::Block(out, indentation).message(msg);
}

template<class ContainerAllocator>
::std::string to_yaml(const ${name}_<ContainerAllocator> & msg, bool use_flow_style = false)
{
  return ::sinew::yaml::text(msg, use_flow_style);
}

}  // namespace $namespace
";

const NAMES: &str = "
namespace rosidl_generator_traits
{

template<>
inline const char * data_type<$type>()
{
  return \"$data_type\";
}

template<>
inline const char * name<$type>()
{
  return \"$ros\";
}

template<>
struct has_fixed_size<$type>
  : ::std::integral_constant<bool, $is_fixed> {};

template<>
struct has_bounded_size<$type>
  : ::std::integral_constant<bool, $is_bounded> {};

$roles}  // namespace rosidl_generator_traits
";

const MESSAGE: &str = "
namespace sinew
{

template<class ContainerAllocator>
struct MessageTraits<${type}_<ContainerAllocator>>
  : MessageCodec<${type}_<ContainerAllocator>>
{
$properties  static constexpr ::std::size_t alignment = $alignment;
  static constexpr ::std::size_t least = ${least}u;
$plain$checked
  using Builder = $builder;

  template<class Message, class Visitor>
  static bool visit(Message & message, Visitor & visitor)
  {
    (void)message;
    return $visits;
  }
$stamp};

}  // namespace sinew
";

const PROPERTIES: &str = "  static constexpr ::std::string_view name = \"$ros\";
  static constexpr ::std::string_view hash_text =
    \"$hash\";
  static constexpr TypeHash hash = type_hash(hash_text);
  static constexpr ::std::string_view description =
$description;
";

const STAMP: &str = "
  static ::std::int64_t stamp(const ${type}_<ContainerAllocator> & message)
  {
    return message.${header}stamp.sec * ::std::int64_t{1000000000} + message.${header}stamp.nanosec;
  }
";

const CHECKED: &str = "  static constexpr bool has_bounded_text = true;\n";

/// Generates traits.
pub(super) struct Traits<'a> {
    interfaces: &'a Interfaces,
    layouts: Layouts<'a>,
    fixed: Known<bool>,
    bounded: Known<bool>,
    /// Whether a message has a string with a bound somewhere.
    bounded_texts: Known<bool>,
}

impl<'a> Traits<'a> {
    pub(super) fn new(interfaces: &'a Interfaces) -> Self {
        let layouts = Layouts::new(interfaces);
        let (fixed, bounded, bounded_texts) = (Known::new(), Known::new(), Known::new());
        Self { interfaces, layouts, fixed, bounded, bounded_texts }
    }

    /// Returns the traits of a message, and the functions that print it. `role` is its role in a
    /// service or action, e.g. `is_service_request`.
    pub(super) fn message(&self, interface: &Interface, role: Option<&str>) -> String {
        let namespace = namespace(&interface.name);
        let roles = ["is_message"].into_iter().chain(role);
        let text = fill(TEXT, &[("namespace", &namespace), ("name", interface.name.base())]);
        let [is_fixed, is_bounded] = [Size::Fixed, Size::Bounded].map(|size| self.has(&interface.name, size));
        text + &names(&interface.name, is_fixed, is_bounded, roles) + &self.message_traits(interface)
    }

    fn message_traits(&self, interface: &Interface) -> String {
        let layout = self.layouts.of_interface(interface);
        let own_type = qualified(&interface.name);
        let mut visits: Vec<String> = interface.fields.iter().map(visit).collect();
        if visits.is_empty() {
            visits.push("visitor.empty_message()".to_owned());
        }
        let stamp = header(interface).map(|header| fill(STAMP, &[("type", &own_type), ("header", header)]));
        fill(
            MESSAGE,
            &[
                ("type", &own_type),
                ("properties", &self.properties(&interface.name)),
                ("alignment", &layout.alignment.to_string()),
                ("least", &layout.least.to_string()),
                ("plain", &self.plain(interface, layout.plain)),
                ("checked", if self.has_bounded_text(interface) { CHECKED } else { "" }),
                ("builder", &first(interface)),
                ("visits", &visits.join(" &&\n           ")),
                ("stamp", stamp.as_deref().unwrap_or_default()),
            ],
        )
    }

    /// Returns the traits of a service or action: its names, and `kind`, e.g. `ServiceTraits`.
    pub(super) fn of_parts(&self, interface: &Interface, kind: &str, role: &str) -> String {
        let all = |size| {
            let mut parts = interface.fields.iter().filter_map(|field| match &field.field_type.element {
                ElementType::Message(name) if !name.base().ends_with("_Event") => Some(name),
                _ => None,
            });
            parts.all(|part| self.has(part, size))
        };
        let [is_fixed, is_bounded] = [Size::Fixed, Size::Bounded].map(all);
        let traits = fill(
            "\nnamespace sinew\n{\n\ntemplate<>\nstruct $kind<$type>\n{\n$properties};\n\n}  // namespace sinew\n",
            &[
                ("kind", kind),
                ("type", &qualified(&interface.name)),
                ("properties", &self.properties(&interface.name)),
            ],
        );
        names(&interface.name, is_fixed, is_bounded, [role]) + &traits
    }

    fn properties(&self, name: &TypeName) -> String {
        let description = self.interfaces.description(name).expect("resolved interfaces are complete");
        // A literal for each type in the description.
        let json = description.to_json().replace("{\"type_name\"", "\n{\"type_name\"");
        let lines = json.lines().map(|line| format!("    R\"({line})\""));
        fill(
            PROPERTIES,
            &[
                ("ros", name.as_str()),
                ("hash", &description.hash().to_string()),
                ("description", &lines.collect::<Vec<_>>().join("\n")),
            ],
        )
    }

    /// Returns whether the type is plain, and the proof that the compiler lays it out accordingly.
    fn plain(&self, interface: &Interface, plain: Option<Plain>) -> String {
        let Some(Plain { size, alignment }) = plain else {
            return "  static constexpr bool is_plain = false;\n".to_owned();
        };
        let mut offset = 0;
        let mut offsets = String::new();
        for one in &interface.fields {
            offsets += &format!(" &&\n    offsetof(Type, {}) == {offset}", identifier(&one.name));
            offset += self.layouts.of_field(&one.field_type).plain.map_or(0, |plain| plain.size);
        }
        fill(
            "  static constexpr bool is_plain = !cdr::is_big_endian_machine;

  using Type = ${type}_<ContainerAllocator>;
  static_assert(
    ::std::is_trivially_copyable_v<Type> && sizeof(Type) == $size && alignof(Type) == $alignment$offsets,
    \"the compiler lays this struct out with padding\");
",
            &[
                ("type", &qualified(&interface.name)),
                ("size", &size.to_string()),
                ("alignment", &alignment.to_string()),
                ("offsets", &offsets),
            ],
        )
    }

    /// Returns whether the message has a string with a bound somewhere.
    fn has_bounded_text(&self, interface: &Interface) -> bool {
        interface.fields.iter().any(|field| match &field.field_type.element {
            ElementType::Primitive(_) => false,
            ElementType::String { bound } | ElementType::WString { bound } => bound.is_some(),
            ElementType::Message(name) => {
                let nested = self.interfaces.find(name).expect("resolved interfaces are complete");
                self.bounded_texts.of(name, || self.has_bounded_text(nested))
            }
        })
    }

    fn known(&self, size: Size) -> &Known<bool> {
        match size {
            Size::Fixed => &self.fixed,
            Size::Bounded => &self.bounded,
        }
    }

    /// Returns whether the encoded form of a message has such a size, by ROS 2's rules.
    fn has(&self, name: &TypeName, size: Size) -> bool {
        let interface = self.interfaces.find(name).expect("resolved interfaces are complete");
        interface.fields.iter().all(|field| {
            let is_sized = match field.field_type.shape {
                Shape::Single | Shape::Array(_) => true,
                Shape::BoundedSequence(_) => size == Size::Bounded,
                Shape::Sequence => false,
            };
            is_sized
                && match &field.field_type.element {
                    ElementType::Primitive(_) => true,
                    ElementType::String { bound } | ElementType::WString { bound } => {
                        size == Size::Bounded && bound.is_some()
                    }
                    ElementType::Message(name) => self.known(size).of(name, || self.has(name, size)),
                }
        })
    }
}

/// Kinds of sizes of encoded forms.
#[derive(Clone, Copy, PartialEq)]
enum Size {
    Fixed,
    Bounded,
}

fn names<'a>(
    name: &TypeName,
    is_fixed: bool,
    is_bounded: bool,
    roles: impl IntoIterator<Item = &'a str>,
) -> String {
    let own_type = qualified(name);
    let role = |role| format!("template<>\nstruct {role}<{own_type}>\n  : ::std::true_type {{}};\n\n");
    fill(
        NAMES,
        &[
            ("type", &own_type),
            ("data_type", own_type.trim_start_matches(':')),
            ("ros", name.as_str()),
            ("is_fixed", &is_fixed.to_string()),
            ("is_bounded", &is_bounded.to_string()),
            ("roles", &roles.into_iter().map(role).collect::<String>()),
        ],
    )
}

/// Returns the call that passes a field to a visitor.
fn visit(field: &FieldDefinition) -> String {
    let (name, member) = (&field.name, identifier(&field.name));
    match &field.field_type.element {
        ElementType::String { bound: Some(bound) } | ElementType::WString { bound: Some(bound) } => {
            format!("visitor.text(\"{name}\", message.{member}, {bound}u)")
        }
        ElementType::Primitive(Primitive::Byte) => format!("visitor.octet(\"{name}\", message.{member})"),
        _ => format!("visitor.field(\"{name}\", message.{member})"),
    }
}
