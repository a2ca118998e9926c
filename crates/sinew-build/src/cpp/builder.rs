//! The builder of a message: a class for each field, which passes the message on to the next.

use super::names::{identifier, namespace, qualified};
use crate::template::fill;
use sinew_msg::definition::Interface;

/// A template, so that the compiler reads no more of it than its text unless it is used.
const CLASS: &str = "
template<class Message>
class Init_${name}_$field
{
public:
$constructor
  $result $method(typename Message::_${field}_type arg)
  {
    message_.$method = ::std::move(arg);
    return $result(::std::move(message_));
  }

private:
  Message message_;
};
";

const CONSTRUCTOR: &str = "  explicit Init_${name}_$field(Message && message)
  : message_(::std::move(message)) {}
";

const CLASSES: &str = "
namespace $namespace
{

using ::sinew::build;

namespace builder
{
$classes
}  // namespace builder
}  // namespace $namespace

namespace $package
{

using ::sinew::build;

}  // namespace $package
";

/// Returns the classes, and the declarations of `build`: ROS 2 has it in the package's namespace.
pub(super) fn builder(interface: &Interface) -> String {
    let mut classes = String::new();
    let mut next = "Message".to_owned(); // what the method of a field returns
    for (index, field) in interface.fields.iter().enumerate().rev() {
        let class = format!("Init_{}_{}", interface.name.base(), field.name);
        let mut values =
            vec![("name", interface.name.base()), ("field", field.name.as_str()), ("result", &next)];
        let template = if index == 0 { "  Init_${name}_$field() = default;\n" } else { CONSTRUCTOR };
        let (constructor, method) = (fill(template, &values), identifier(&field.name));
        values.extend([("constructor", constructor.as_str()), ("method", method.as_str())]);
        classes += &fill(CLASS, &values);
        next = format!("{class}<Message>");
    }
    let values = [
        ("namespace", namespace(&interface.name)),
        ("package", identifier(interface.name.package())),
        ("classes", classes),
    ];
    fill(CLASSES, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

/// Returns the type that `build` returns; without fields, the message itself.
pub(super) fn first(interface: &Interface) -> String {
    let message = format!("{}_<ContainerAllocator>", qualified(&interface.name));
    match interface.fields.first() {
        Some(field) => {
            let (namespace, name) = (namespace(&interface.name), interface.name.base());
            format!("::{namespace}::builder::Init_{name}_{}<{message}>", field.name)
        }
        None => message,
    }
}
