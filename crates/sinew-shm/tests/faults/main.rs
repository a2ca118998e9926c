//! What goes wrong: bad input, full file systems, missing rights, death at any instruction.
//!
//! Children are this program again: `a_child_plays_its_role` is the way in.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test waits, and needs no model")]
#![allow(clippy::cast_possible_truncation, reason = "images are made of lower bytes")]

mod bad_files;
mod kills;
mod process;
mod station;

use process::Part;

/// Nothing in the parent; in a child, what it is there for. Ends the process.
#[test]
fn a_child_plays_its_role() {
    let Some(part) = Part::mine() else { return };
    match part.role.as_str() {
        "talks" => kills::talk(&part),
        other => panic!("no such role: {other}"),
    }
}
