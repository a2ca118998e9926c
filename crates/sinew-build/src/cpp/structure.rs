//! The struct of a message: fields, constructors, setters, constants and pointers.

use super::comments::documentation;
use super::names::{cpp_primitive, element, field, identifier, namespace};
use super::values::{list, value, zero};
use crate::template::fill;
use sinew_msg::definition::{Constant, ElementType, FieldDefinition, Interface, Literal, Shape};
use sinew_msg::description::PLACEHOLDER;

/// Constants that are macros on Windows.
const WINDOWS_MACROS: [&str; 3] = ["DELETE", "ERROR", "NO_ERROR"];

const STRUCTURE: &str = "
namespace $namespace
{

${documentation}template<class ContainerAllocator>
struct ${name}_
{
  using Type = ${name}_<ContainerAllocator>;

  explicit ${name}_(::sinew::MessageInitialization _init = ::sinew::MessageInitialization::ALL)
$of_fields  {
    initialize_(_init);
  }

  explicit ${name}_(
    const ContainerAllocator & _alloc,
    ::sinew::MessageInitialization _init = ::sinew::MessageInitialization::ALL)
$of_allocator  {
    (void)_alloc;
    initialize_(_init);
  }

$fields
$setters$constants  using RawPtr = Type *;
  using ConstRawPtr = const Type *;
  using SharedPtr = ::std::shared_ptr<Type>;
  using ConstSharedPtr = ::std::shared_ptr<const Type>;
  template<typename Deleter = ::std::default_delete<Type>>
  using UniquePtrWithDeleter = ::std::unique_ptr<Type, Deleter>;
  using UniquePtr = UniquePtrWithDeleter<>;
  template<typename Deleter = ::std::default_delete<Type>>
  using ConstUniquePtrWithDeleter = ::std::unique_ptr<const Type, Deleter>;
  using ConstUniquePtr = ConstUniquePtrWithDeleter<>;
  using WeakPtr = ::std::weak_ptr<Type>;
  using ConstWeakPtr = ::std::weak_ptr<const Type>;
  using Ptr [[deprecated(\"use SharedPtr\")]] = SharedPtr;
  using ConstPtr [[deprecated(\"use ConstSharedPtr\")]] = ConstSharedPtr;

  bool operator==(const Type & _other) const
  {
    return $comparison;
  }

  bool operator!=(const Type & _other) const
  {
    return !(*this == _other);
  }

private:
  void initialize_(::sinew::MessageInitialization _init)
  {
$initialization    (void)_init;
  }
};

using $name = ${name}_<::std::allocator<void>>;
$definitions
}  // namespace $namespace
";

pub(super) fn structure(interface: &Interface) -> String {
    let name = interface.name.base();
    let fields = &interface.fields;
    let comparisons = fields
        .iter()
        .map(|field| fill("this->$field == _other.$field", &[("field", &identifier(&field.name))]));
    let mut comparison = comparisons.collect::<Vec<_>>().join(" &&\n           ");
    let (mut declarations, mut initialization) = (declarations(fields), initialization(fields));
    if fields.is_empty() {
        comparison = format!("this->{PLACEHOLDER} == _other.{PLACEHOLDER}");
        declarations = fill(
            "  using _${name}_type = ::std::uint8_t;\n  /// ROS 2 leaves no struct empty.\n  _${name}_type $name;\n",
            &[("name", PLACEHOLDER)],
        );
        initialization = format!("    this->{PLACEHOLDER} = 0;\n");
    }
    fill(
        STRUCTURE,
        &[
            ("namespace", &namespace(&interface.name)),
            ("documentation", &documentation("", &format!("`{}`", interface.name), &interface.documentation)),
            ("name", name),
            ("of_fields", &initializers(fields, false)),
            ("of_allocator", &initializers(fields, true)),
            ("fields", &declarations),
            ("setters", &setters(fields)),
            ("constants", &constants(&interface.constants)),
            ("comparison", &comparison),
            ("initialization", &initialization),
            ("definitions", &texts(name, &interface.constants)),
        ],
    )
}

/// Returns the initialisers of a constructor, with or without an allocator.
fn initializers(fields: &[FieldDefinition], with_allocator: bool) -> String {
    let initializers = fields.iter().filter_map(|field| {
        let arguments = match (&field.field_type.element, field.field_type.shape) {
            (_, Shape::Array(_)) => return None,
            (ElementType::Message(_), Shape::Single) if with_allocator => "_alloc, _init",
            (ElementType::Message(_), Shape::Single) => "_init",
            (ElementType::Primitive(_), Shape::Single) => return None,
            _ if with_allocator => "_alloc",
            _ => return None,
        };
        Some(format!("{}({arguments})", identifier(&field.name)))
    });
    let initializers: Vec<_> = initializers.collect();
    if initializers.is_empty() { String::new() } else { format!("  : {}\n", initializers.join(",\n    ")) }
}

fn declarations(fields: &[FieldDefinition]) -> String {
    const DECLARATION: &str = "  using _${name}_type = $type;\n${documentation}  _${name}_type $field;\n";
    let declaration = |one: &FieldDefinition| {
        fill(
            DECLARATION,
            &[
                ("name", &one.name),
                ("type", &field(&one.field_type)),
                ("documentation", &documentation("  ", &format!("`{}`", one.field_type), &one.documentation)),
                ("field", &identifier(&one.name)),
            ],
        )
    };
    fields.iter().map(declaration).collect()
}

fn setters(fields: &[FieldDefinition]) -> String {
    const SETTER: &str = "  Type & set__$name(const _${name}_type & _arg)
  {
    this->$field = _arg;
    return *this;
  }

";
    let setter =
        |field: &FieldDefinition| fill(SETTER, &[("name", &field.name), ("field", &identifier(&field.name))]);
    fields.iter().map(setter).collect()
}

fn constants(constants: &[Constant]) -> String {
    let mut text = String::new();
    for constant in constants {
        let Constant { name, element: of, value: literal, .. } = constant;
        text += &documentation("  ", &format!("`{of}`"), &constant.documentation);
        let line = match of {
            ElementType::Primitive(primitive) => {
                format!("static constexpr {} {name} = {};", cpp_primitive(*primitive), value(of, literal))
            }
            _ => format!("static const {} {name};", element(of)),
        };
        text += &guarded(name, &format!("  {line}\n"));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns the definitions of texts, which are no constant expressions.
fn texts(name: &str, constants: &[Constant]) -> String {
    const TEXT: &str = "
template<class ContainerAllocator>
const $type ${name}_<ContainerAllocator>::$constant($value);
";
    let texts = constants.iter().filter(|constant| !matches!(constant.element, ElementType::Primitive(_)));
    let text = |constant: &Constant| {
        let definition = fill(
            TEXT,
            &[
                ("type", &element(&constant.element)),
                ("name", name),
                ("constant", &constant.name),
                ("value", &value(&constant.element, &constant.value)),
            ],
        );
        guarded(&constant.name, &definition)
    };
    texts.map(text).collect()
}

/// Hides the macro of this name while the code is compiled.
fn guarded(name: &str, code: &str) -> String {
    if !WINDOWS_MACROS.contains(&name) {
        return code.to_owned();
    }
    let values = [("name", name), ("code", code)];
    fill(
        "#if defined(_WIN32)\n#pragma push_macro(\"$name\")\n#undef $name\n#endif\n$code#if defined(_WIN32)\n#pragma pop_macro(\"$name\")\n#endif\n",
        &values,
    )
}

/// Returns the body of the function that both constructors call.
fn initialization(fields: &[FieldDefinition]) -> String {
    let zeros = lines(fields, |field| match (&field.field_type.element, field.field_type.shape) {
        (ElementType::Primitive(primitive), Shape::Single) => Some(format!("$field = {};", zero(*primitive))),
        (ElementType::Primitive(primitive), Shape::Array(_)) => {
            Some(format!("$field.fill({});", zero(*primitive)))
        }
        _ => None, // empty already, or initialised by its own constructor
    });
    // The elements of an array were made by their default constructor.
    let messages = lines(fields, |field| match (&field.field_type.element, field.field_type.shape) {
        (of @ ElementType::Message(_), Shape::Array(_)) => {
            Some(format!("$field.fill({}(_init));", element(of)))
        }
        _ => None,
    });
    let defaults = lines(fields, default);
    let mut body = String::new();
    for (condition, lines) in [
        ("::sinew::initializes_zeros(_init)", zeros),
        ("_init == ::sinew::MessageInitialization::ZERO", messages),
        ("::sinew::initializes_defaults(_init)", defaults),
    ] {
        if !lines.is_empty() {
            body += &format!("    if ({condition}) {{\n{lines}    }}\n");
        }
    }
    body
}

/// Returns the statement that gives a field its default value.
fn default(field: &FieldDefinition) -> Option<String> {
    let element = &field.field_type.element;
    Some(match (field.default.as_ref()?, field.field_type.shape) {
        (Literal::Sequence(values), Shape::Array(_)) => {
            format!("$field = _{}_type{{{{{}}}}};", field.name, list(element, values))
        }
        (Literal::Sequence(values), _) if values.is_empty() => return None,
        (Literal::Sequence(values), _) => format!("$field.assign({{{}}});", list(element, values)),
        (single, _) => format!("$field = {};", value(element, single)),
    })
}

/// Returns the lines of the fields that have one, each for `$field`.
fn lines(fields: &[FieldDefinition], line: impl Fn(&FieldDefinition) -> Option<String>) -> String {
    let line = |field: &FieldDefinition| {
        let text = line(field)?.replacen("$field", &format!("this->{}", identifier(&field.name)), 1);
        Some(format!("      {text}\n"))
    };
    fields.iter().filter_map(line).collect()
}
