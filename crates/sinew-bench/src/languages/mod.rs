//! `bench languages`: programs of C, C++ and Python beside the same in Rust.
//!
//! Every side is a process of its own in a domain directory of its own, started anew for each round.
//! Those of C and C++ are compiled first, from the folder `languages` of this crate; those of Rust
//! are this program, and those of Python run as they are. All end with the same line, so the figures are computed in one place.

mod chain;
mod interpreter;
mod program;
mod publish;
mod python;
mod raw;
mod talk;
mod toolchain;

use crate::options::{LanguagesCase, LanguagesOptions};
use crate::{Error, Ground, Sheet};
pub(crate) use chain::RustChain;
pub(crate) use publish::RustPublish;
pub(crate) use raw::RustRaw;
pub(crate) use talk::RustTalk;
pub use toolchain::{Language, Toolchain};

/// What all programs of C and C++ here include.
const SHARED: (&str, &str) = ("measuring.h", include_str!("../../languages/measuring.h"));

/// Measures the selected cases.
pub(crate) fn measure(options: &LanguagesOptions, sheet: &mut Sheet) -> Result<(), Error> {
    let ground = Ground::default();
    let has = |case| options.cases.is_empty() || options.cases.contains(&case);
    if [LanguagesCase::Chain, LanguagesCase::Raw, LanguagesCase::Publish].into_iter().any(has) {
        let toolchain = Toolchain::find(options.library.as_deref())?;
        toolchain.add(SHARED.0, SHARED.1)?;
        sheet.note(&format!("C and C++ are measured with {}", toolchain.library().display()));
        if has(LanguagesCase::Chain) {
            chain::measure(options, &toolchain, &ground, sheet)?;
        }
        if has(LanguagesCase::Raw) {
            raw::measure(options, &toolchain, &ground, sheet)?;
        }
        if has(LanguagesCase::Publish) {
            publish::measure(&toolchain, &ground, sheet)?;
        }
    }
    if has(LanguagesCase::Python) {
        python::measure(&ground, sheet)?;
    }
    Ok(())
}
