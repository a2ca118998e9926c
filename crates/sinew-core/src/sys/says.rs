//! Printing errors as sentences, even if a `main` that returns one prints its `Debug` form.

use std::fmt;

/// Writes an error as a program's `main` prints it: its sentence, and those of its causes that it
/// doesn't contain, each on a line of its own.
pub fn say(error: &dyn std::error::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&with_causes(error, "\n  because: "))
}

/// Writes the same in one line, for logs.
pub(crate) fn in_one_line(error: &dyn std::error::Error) -> String {
    with_causes(error, "; because: ")
}

fn with_causes(error: &dyn std::error::Error, because: &str) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !said.contains(&text) {
            said.push_str(because);
            said.push_str(&text);
        }
        cause = error.source();
    }
    said
}

/// Implements `Debug` for errors: the sentence, see [`say`]; with `{:#?}` the variant and its
/// fields.
macro_rules! debug_says {
    ($error:ident: $($variant:ident $(($part:ident))? $({ $($field:ident),+ })?),+ $(,)?) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if !f.alternate() {
                    return $crate::sys::says::say(self, f);
                }
                match self {
                    $(Self::$variant $(($part))? $({ $($field),+ })? => f
                        .debug_struct(stringify!($variant))
                        $(.field(stringify!($part), $part))?
                        $($(.field(stringify!($field), $field))+)?
                        .finish(),)+
                }
            }
        }
    };
}
pub(crate) use debug_says;

/// Implements `Debug` for errors of the crates above: the sentence, see [`say`].
#[doc(hidden)]
#[macro_export]
macro_rules! __debug_says {
    ($($error:ty),+ $(,)?) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::__private::say(self, f)
            }
        }
    )+};
}
