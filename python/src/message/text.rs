//! Messages as text.

use super::class::Element;
use super::object::PyMessage;
use pyo3::prelude::*;
use sinew_msg::definition::Shape;

/// Number of elements of an array that are shown.
const SHOWN: usize = 100;

/// Returns a message as rclpy shows it: `std_msgs.msg.String(data='hi')`. Numbers in arrays are shown
/// as a list; of more than [`SHOWN`], the first.
pub(super) fn repr(message: &Bound<'_, PyMessage>) -> PyResult<String> {
    let (py, this) = (message.py(), message.get());
    let mut fields = Vec::new();
    for (index, field) in this.class().fields.iter().enumerate() {
        let value = this.value(py, index)?;
        let text = match (field.shape, &field.element) {
            (Shape::Single, _) => value.repr()?.to_string(),
            (_, Element::Number(_)) => numbers(&value)?,
            _ => value.repr()?.to_string(),
        };
        fields.push(format!("{}={text}", field.name));
    }
    let name = this.class().name().replace('/', ".");
    Ok(format!("{name}({})", fields.join(", ")))
}

fn numbers(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let (count, mut shown) = (value.len()?, Vec::new());
    for one in value.try_iter()?.take(SHOWN) {
        let one = one?;
        // A scalar of numpy says so.
        let plain = one.getattr_opt("item")?.map(|item| item.call0()).transpose()?;
        shown.push(plain.unwrap_or(one).repr()?.to_string());
    }
    if count > SHOWN {
        shown.push(format!("... {} more", count - SHOWN));
    }
    Ok(format!("[{}]", shown.join(", ")))
}
