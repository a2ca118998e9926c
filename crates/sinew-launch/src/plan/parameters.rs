//! Evaluates parameters.

use super::scope::{Given, Scope, absolute};
use crate::description::{ParameterItem, ParameterKind, ParameterValue, Typing};
use crate::error::{LoadError, Problem};
use crate::file;
use crate::parameter::Parameter;
use crate::place::Place;
use crate::text::Text;

/// Evaluates a parameter.
pub(super) fn given(item: &ParameterItem, scope: &Scope) -> Result<Given, LoadError> {
    match &item.kind {
        ParameterKind::File { path, has_substitutions } => {
            let file = absolute(&scope.path_of(&scope.text(path)?));
            let failed =
                |source| Problem::File { action: "read", path: file.clone(), source }.at(&path.place);
            let text = file::regular(&file).map_err(failed)?;
            scope.budget.charge(text.len(), &path.place)?;
            if !has_substitutions {
                return Ok(Given::File(file));
            }
            Ok(Given::Text(scope.file_text(&Text::parse(&text, &Place::new(&file, 1, 1))?)?))
        }
        ParameterKind::Value { name, value } => {
            let name = scope.text(name)?;
            let value = match value {
                ParameterValue::Typed(value) => value.clone(),
                ParameterValue::Text(text) => match text.as_literal() {
                    Some(literal) => Parameter::Text(literal.to_owned()),
                    // A text that is one substitution gets the type that the result looks like.
                    None if text.parts.len() == 1 => scope.parameter(text)?,
                    None => Parameter::Text(scope.text(text)?),
                },
                ParameterValue::As(text, typing) => typed(text, *typing, scope)?,
                ParameterValue::List(texts) => {
                    let values: Result<Vec<_>, _> = texts.iter().map(|text| scope.parameter(text)).collect();
                    Parameter::list(values?)
                        .map_err(|message| Problem::value(name.as_str(), "a list", message).at(&item.place))?
                }
            };
            Ok(Given::Value(name, value))
        }
    }
}

/// Reads a parameter of a type that the file names.
fn typed(text: &Text, typing: Typing, scope: &Scope) -> Result<Parameter, LoadError> {
    if typing == Typing::Text {
        return Ok(Parameter::Text(scope.text(text)?));
    }
    let value = scope.parameter(text)?;
    #[expect(clippy::cast_precision_loss, reason = "as in ROS 2, an integer may stand for a double")]
    match (typing, value) {
        (Typing::Double, Parameter::Integer(number)) => Ok(Parameter::Double(number as f64)),
        (Typing::Bool, value @ Parameter::Bool(_))
        | (Typing::Integer, value @ Parameter::Integer(_))
        | (Typing::Double, value @ Parameter::Double(_))
        | (Typing::Inferred, value) => Ok(value),
        (_, value) => {
            let expected = "it has to be of the type that `type` names";
            Err(Problem::value("value", value.type_name(), expected).at(&text.place))
        }
    }
}
