//! Input from outside the process, broken in every way.
//!
//! | test | what is broken | what must hold for whatever is left of it |
//! |---|---|---|
//! | `images` | images of generated and derived types, in both byte orders | decoding, decoding into a value, seeing and decoding dynamically agree; the value's image is the same value |
//! | `texts` | YAML and JSON of dynamic messages | the message comes back from its image, its YAML and its JSON |
//! | `definitions` | `.msg`, `.srv` and `.action` files | an error points into the text; types are resolved, described and hashed |
//! | `descriptions` | the JSON of type descriptions, as other programs write it, and images of such types | the description comes back from its JSON; images as above |
//!
//! In addition: no panic, and never more memory at a time than the [`Bound`](memory::Bound) beside
//! the check.
//!
//! Each test begins with valid inputs, mutates them, and goes on with the mutants that are still
//! accepted. An ordinary run tries the same few thousand inputs each time; with `SINEW_FUZZ=600`
//! each test tries new ones for 600 seconds, as `.ci/deep fuzz` does. A failure prints the input.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod definitions;
mod descriptions;
mod driver;
mod images;
mod memory;
mod mutation;
#[path = "../../../sinew-interfaces/tests/types/random.rs"]
mod random;
mod texts;
#[path = "../cdr/types.rs"]
mod types;
