//! Faults: bad input, full file systems, missing rights, death at any instruction.
//!
//! Child processes run this program again, beginning in `a_child_plays_its_role`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::disallowed_methods, reason = "what is waited for happens in other processes")]
#![expect(clippy::cast_possible_truncation, reason = "images are made of lower bytes, choices of lower bits")]

mod bad_files;
mod blind;
mod corrupt;
mod isolation;
mod kills;
mod limits;
mod memory;
mod overlay;
mod process;
mod reuse;
mod station;
mod users;

use process::Part;

/// Does nothing in the parent; plays the role of a child, and then ends the process.
#[test]
fn a_child_plays_its_role() {
    let Some(part) = Part::mine() else { return };
    match part.role.as_str() {
        "talks" => kills::talk(&part),
        "scribbles" => corrupt::scribble(&part),
        "fills" => limits::fill(&part),
        "overstates" => corrupt::overstate(&part),
        "sees others die" => memory::see_others_die(&part),
        "publishes images" => memory::publish_images(&part),
        "has little room" => memory::with_little_room(&part),
        "has late joiners" => memory::with_late_joiners(&part),
        "keeps what it sends" => memory::keep_what_is_sent(&part),
        "is short" => memory::be_short(&part),
        "keeps elsewhere" => memory::keep_elsewhere(&part),
        "has no descriptors" => memory::have_no_descriptors(&part),
        "is late" => limits::be_late(&part),
        "is deaf" => limits::be_deaf(&part),
        "runs short" => limits::run_short(&part),
        "moves" => bad_files::change_directory(&part),
        "queues" => limits::queue(&part),
        "keeps" => reuse::keep(&part),
        "polls" => limits::poll(&part),
        "crowds" => limits::crowd(&part),
        "leaves much" => blind::leave_much(&part),
        "is blind" => blind::be_blind(&part),
        "joins" => overlay::join(&part),
        "forks" => isolation::fork(&part),
        "writes" => isolation::write(&part),
        "is another user" => isolation::stranger(&part),
        "sleeps" => users::sleep(&part),
        "wakes" => users::wake(&part),
        "shortens" => users::shorten(&part),
        "opens" => users::open(&part),
        "plants" => users::plant(&part),
        other => panic!("no such role: {other}"),
    }
}
