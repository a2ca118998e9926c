//! Input from outside the process, broken in every way.
//!
//! - `encoded` breaks encoded messages of generated and derived types, in both byte orders.
//!   Decoding, decoding into a value, viewing and decoding dynamically must agree; the value must
//!   survive encoding and decoding.
//! - `texts` breaks YAML and JSON of dynamic messages. The message must survive its encoded form,
//!   its YAML and its JSON.
//! - `definitions` breaks `.msg`, `.srv` and `.action` files. An error must point into the text;
//!   types must be resolved, described and hashed.
//! - `descriptions` breaks the JSON of type descriptions, as other programs write it, and encoded
//!   messages of such types. The description must survive its JSON; messages must behave as above.
//!
//! In addition: no panic, and never more memory at a time than the [`Bound`](memory::Bound) beside
//! the check.
//!
//! Each test begins with valid inputs, mutates them, and goes on with the mutants that are still
//! accepted. An ordinary run tries the same few thousand inputs each time; with `SINEW_FUZZ=600`
//! each test tries new ones for 600 seconds, as `.ci/deep fuzz` does. A failure prints the input.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../support/codec.rs"]
mod codec;
mod definitions;
mod descriptions;
mod driver;
mod encoded;
mod memory;
mod mutation;
#[path = "../../../sinew-interfaces/tests/types/random.rs"]
mod random;
mod texts;
#[path = "../cdr/types.rs"]
mod types;
