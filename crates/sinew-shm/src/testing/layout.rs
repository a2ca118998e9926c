//! Checks that `docs/internals/shm-layout.md` agrees with the code.
//!
//! Each table of the document that contains numbers from the code is compared with the code: the
//! first columns of its rows, and that no row is missing or superfluous.

use crate::event::protocol;
use crate::ring;
use crate::segment::header::{Header, LAYOUT_VERSION};
use crate::segment::slab::ENCODED_AT;
use crate::tables::bell::{BELLS, BELLS_LENGTH, bell_offset};
use crate::tables::control_segment::{
    ControlHeader, EndpointRecord, EventRingRecord, FIXED, IncomingRecord, LENGTH, LOG, OutgoingRecord,
    PeerRecord, PortRecord, TABLES, Table, TailRecord, WorkerRecord,
};
use crate::tables::endpoint::Counter;
use std::mem::offset_of;

const DOCUMENT: &str = include_str!("../../../../docs/internals/shm-layout.md");

/// The document's section from a heading to the next one.
fn section(heading: &str) -> &'static str {
    let begin = DOCUMENT.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let rest = &DOCUMENT[begin + 1..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}

/// The first columns of the rows of the table that begins with this row.
fn rows<const N: usize>(text: &str, first: &str) -> Vec<[String; N]> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("| {first} |")));
    assert!(lines.next().is_some(), "no table {first:?} in {text}");
    let cells = |line: &str| {
        let mut cells = line.split('|').skip(1).map(|cell| cell.trim().replace('`', ""));
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    };
    lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect()
}

fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Compares the section of a struct with its fields, all of which are given.
macro_rules! compare {
    ($record:ident: $($field:ident),*) => {{
        let fields = [$((
            offset_of!($record, $field),
            size_of_field(|record: &$record| &record.$field),
            stringify!($field),
        )),*];
        let named: usize = fields.iter().map(|(_, size, _)| size).sum();
        assert_eq!(named, size_of::<$record>(), "a field of {} isn't compared", stringify!($record));
        let wanted = fields.map(|(at, size, name)| [at.to_string(), size.to_string(), name.to_owned()]);
        assert_eq!(rows(section(concat!("### `", stringify!($record), "`")), "at"), wanted);
    }};
}

#[test]
fn records() {
    compare!(Header: magic, version_kind, length, owner, boot, number, reserved, spare);
    compare!(ControlHeader: segment, pid, started, program, state, copied, alive, spare, changes, spare_line, reserved, log);
    compare!(
        EndpointRecord: generation, kind_node, number, ring, hash, lengths, memory, notes, alive, spare, qos, text, counters, histogram
    );
    compare!(OutgoingRecord: generation, peer, source, target, first, live, end, waiting);
    compare!(IncomingRecord: generation, peer, outgoing, port, cursor, spare, next, spare_line);
    compare!(PortRecord: generation, bell, bell_index, spare, parked, spare_line);
    compare!(EventRingRecord: generation, peer, port, ring, spare);
    compare!(PeerRecord: generation, id);
    compare!(TailRecord: owner, tail, spare);
    compare!(WorkerRecord: generation, executor, worker, running, since, spare);
}

#[test]
fn tables() {
    let wanted = Table::ALL.map(|table| {
        let numbers = [table.offset(), table.capacity(), table.size()].map(|number| number.to_string());
        let [offset, capacity, size] = numbers;
        [(table as usize).to_string(), format!("{table:?}"), offset, capacity, size]
    });
    assert_eq!(rows::<5>(section("## Control segment"), "number"), wanted);
    assert_eq!(wanted.len(), TABLES);
}

#[test]
fn counters() {
    let all = [
        Counter::Messages,
        Counter::Bytes,
        Counter::Last,
        Counter::Taken,
        Counter::Overwritten,
        Counter::Refused,
        Counter::Expired,
        Counter::Waiting,
        Counter::Missed,
        Counter::Matched,
        Counter::Copies,
        Counter::Latencies,
        Counter::Established,
        Counter::Encodings,
        Counter::Decodings,
        Counter::Encoded,
    ];
    let wanted = all.map(|counter| [(counter as usize).to_string(), format!("{counter:?}")]);
    assert_eq!(rows(section("### `EndpointRecord`"), "counter"), wanted);
}

/// Compares numbers in drawings and sentences.
#[test]
fn numbers() {
    let says = |heading: &str, words: String| {
        assert!(section(heading).contains(&words), "{heading:?} doesn't say {words:?}");
    };
    assert!(DOCUMENT.contains(&format!("\nLayout version: {LAYOUT_VERSION}\n")));
    says("## Control segment", format!("\n    {FIXED}     ├"));
    says("## Control segment", format!("\n    {LENGTH}  └"));
    says("## Control segment", format!("log: {LOG} entries"));
    says("## Control segment", format!("* {} + (slot in `Ports`)", Table::Ports.capacity()));
    says("## Bells segment", format!("bell {}: port {}", BELLS - 1, Table::Ports.capacity() - 1));
    says("## Bells segment", format!("\n    {}    ├", bell_offset(0).expect("the first")));
    says("## Bells segment", format!("\n    {BELLS_LENGTH}  └"));
    says("## Data segments", format!("The encoded form begins {ENCODED_AT} bytes"));
    says("### A ring", format!("\n        {}    ├", ring::HEADER * 8));
    says("### A ring", format!("\n| {}.. | encoded form |", ring::HEAD));
    says("### An event ring", format!("\n        {}    ├", protocol::HEADER * 8));
}
