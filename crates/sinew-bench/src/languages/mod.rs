//! `bench languages`: programs of C and C++ beside the same in Rust.
//!
//! Every side is a process of its own in a domain directory of its own, started anew for each round.
//! Those of C and C++ are compiled first, from the folder `languages` of this crate; those of Rust
//! are this program. All end with the same line, so the figures are computed in one place.

mod chain;
mod program;
mod publish;
mod raw;
mod toolchain;

use crate::options::{LanguagesCase, LanguagesOptions};
use crate::{Error, Ground, Sheet};
pub(crate) use chain::RustChain;
pub(crate) use publish::RustPublish;
pub(crate) use raw::RustRaw;
pub use toolchain::{Language, Toolchain};

/// What all programs of C and C++ here include.
const SHARED: (&str, &str) = ("measuring.h", include_str!("../../languages/measuring.h"));

/// Measures the selected cases.
pub(crate) fn measure(options: &LanguagesOptions, sheet: &mut Sheet) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.library.as_deref())?;
    toolchain.add(SHARED.0, SHARED.1)?;
    sheet.note(&format!("C and C++ are measured with {}", toolchain.library().display()));
    let ground = Ground::default();
    let has = |case| options.cases.is_empty() || options.cases.contains(&case);
    if has(LanguagesCase::Chain) {
        chain::measure(options, &toolchain, &ground, sheet)?;
    }
    if has(LanguagesCase::Raw) {
        raw::measure(options, &toolchain, &ground, sheet)?;
    }
    if has(LanguagesCase::Publish) {
        publish::measure(&toolchain, &ground, sheet)?;
    }
    Ok(())
}
