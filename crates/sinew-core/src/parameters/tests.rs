//! Declaring and setting against an oracle without handles, callbacks or turns.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use super::callbacks::Callback;
use super::descriptor::{IntegerRange, ParameterDescriptor};
use super::options::ParameterOptions;
use super::spec::Declaration;
use super::table::{Change, ParameterTable, Refusal};
use super::value::{NamedValue, ParameterType, ParameterValue};
use crate::sys::sync::{Arc, Mutex};
use proptest::prelude::*;
use std::collections::BTreeMap;

const NAMES: [&str; 5] = ["ranged", "fixed", "dynamic", "read_only", "unknown"];

fn value() -> impl Strategy<Value = ParameterValue> {
    prop_oneof![
        1 => Just(ParameterValue::NotSet),
        4 => (-2_i64..12).prop_map(ParameterValue::Integer),
        2 => any::<bool>().prop_map(ParameterValue::Bool),
    ]
}

fn set() -> impl Strategy<Value = Vec<NamedValue>> {
    let one = (prop::sample::select(NAMES.to_vec()), value())
        .prop_map(|(name, value)| NamedValue::new(name, value));
    prop::collection::vec(one, 0..4)
}

/// The events, each with its values.
type Events = Arc<Mutex<Vec<Vec<(NamedValue, Change)>>>>;

/// `ranged` (integer, 0 to 10), `fixed` (integer), `dynamic`, `read_only`.
fn table(allow_undeclared: bool) -> (Arc<ParameterTable>, Events) {
    let options = ParameterOptions { allow_undeclared, ..ParameterOptions::default() };
    let table = ParameterTable::new("/n".into(), options, BTreeMap::new());
    let mut ranged = ParameterDescriptor::new("ranged", ParameterType::Integer);
    ranged.integer_range = Some(IntegerRange { from: 0, to: 10, step: 0 });
    let fixed = ParameterDescriptor::new("fixed", ParameterType::Integer);
    let read_only = ParameterDescriptor {
        read_only: true,
        ..ParameterDescriptor::new("read_only", ParameterType::Integer)
    };
    let mut all: Vec<_> = [ranged, fixed, read_only]
        .into_iter()
        .map(|one| Declaration::new::<i64>(one, Ok(1.into())))
        .collect();
    all.push(Declaration::dynamic("dynamic", 1.into()));
    table.turn().unwrap().declare(all).unwrap();
    let events = Events::default();
    let recording = events.clone();
    table.observe(move |values, changes| {
        recording.lock().push(values.iter().cloned().zip(changes.iter().copied()).collect());
    });
    (table, events)
}

/// Returns the value with which each parameter of a set ends.
fn last_of_each(set: &[NamedValue]) -> BTreeMap<&String, &ParameterValue> {
    set.iter().map(|one| (&one.name, &one.value)).collect()
}

/// Returns the result of setting the values; `None` if it is refused.
fn oracle(
    now: &BTreeMap<String, ParameterValue>,
    allow_undeclared: bool,
    set: &[NamedValue],
) -> Option<BTreeMap<String, ParameterValue>> {
    let mut after = now.clone();
    for NamedValue { name, value } in set {
        let is_known = now.contains_key(name);
        let fits = match (name.as_str(), value) {
            ("read_only", _) => false,
            ("ranged", ParameterValue::Integer(value)) => (0..=10).contains(value),
            ("fixed", ParameterValue::Integer(_)) => true,
            ("ranged" | "fixed", _) => false,
            _ => is_known || allow_undeclared,
        };
        if !fits {
            return None;
        }
    }
    for (name, value) in last_of_each(set) {
        let before = after.get(name).cloned();
        if *value == ParameterValue::NotSet && before.is_some_and(|before| before != ParameterValue::NotSet) {
            after.remove(name);
        } else {
            after.insert(name.clone(), value.clone());
        }
    }
    (!set.is_empty()).then_some(after)
}

fn now(table: &ParameterTable) -> BTreeMap<String, ParameterValue> {
    let names = table.list(&[""; 0], 0).0;
    let value = |name: String| {
        let value = table.look(&name, |entry| entry.value.clone()).unwrap();
        (name, value)
    };
    names.into_iter().map(value).collect()
}

proptest! {
    #[test]
    fn sets_do_what_the_oracle_says(allow_undeclared: bool, sets in prop::collection::vec(set(), 1..8)) {
        let (table, events) = table(allow_undeclared);
        for set in sets {
            let before = now(&table);
            let expected = oracle(&before, allow_undeclared, &set);
            let outcome = table.turn().unwrap().set(set.clone());
            prop_assert_eq!(outcome.is_ok(), expected.is_some(), "{:?} {:?}", set, outcome);
            let after = expected.unwrap_or(before.clone());
            prop_assert_eq!(now(&table), after.clone());
            let changes = std::mem::take(&mut *events.lock());
            prop_assert_eq!(changes.len(), usize::from(outcome.is_ok()), "one event for each set that succeeds");
            let Some(change) = changes.into_iter().next() else { continue };
            prop_assert_eq!(change.len(), last_of_each(&set).len());
            let says = |name: &str, kind: Change| change.iter().any(|(one, said)| one.name == name && *said == kind);
            for gone in before.keys().filter(|name| !after.contains_key(*name)) {
                prop_assert!(says(gone, Change::Deleted));
            }
            for new in after.keys().filter(|name| !before.contains_key(*name)) {
                prop_assert!(says(new, Change::New));
            }
        }
    }

    /// By the definition of `list_parameters`, name by name.
    #[test]
    fn lists_hold_what_their_definition_says(
        names in prop::collection::btree_set("[ab](\\.[ab]){0,3}", 0..12),
        prefixes in prop::collection::vec("[ab](\\.[ab]){0,2}", 0..3),
        depth in 0_u64..4,
    ) {
        let table = ParameterTable::new("/n".into(), ParameterOptions::default(), BTreeMap::new());
        let declared = names.iter().map(|name| Declaration::dynamic(name, 1.into())).collect();
        table.turn().unwrap().declare(declared).unwrap();
        let (listed, parents) = table.list(&prefixes, depth);
        let is_listed = |name: &str| {
            let parts: Vec<&str> = name.split('.').collect();
            if prefixes.is_empty() {
                return depth == 0 || (parts.len() as u64) <= depth;
            }
            prefixes.iter().any(|prefix| {
                let above: Vec<&str> = prefix.split('.').collect();
                parts == above
                    || (parts.starts_with(&above) && (depth == 0 || ((parts.len() - above.len()) as u64) <= depth))
            })
        };
        let expected: Vec<_> = names.iter().filter(|name| is_listed(name)).cloned().collect();
        prop_assert_eq!(&listed, &expected);
        let mut above: Vec<_> =
            expected.iter().filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned())).collect();
        above.sort();
        above.dedup();
        prop_assert_eq!(parents, above);
    }
}

#[test]
fn a_refusal_says_which_parameter_there_is_not() {
    let (table, _) = table(false);
    let refused = table.turn().unwrap().set(vec![NamedValue::new("unknown", 1)]);
    assert_eq!(refused, Err(Refusal::NotDeclared("unknown".to_owned())));
    let reason = refused.unwrap_err().reason();
    assert_eq!(reason, "parameter 'unknown' is not set: the node has declared none of that name");
}

#[test]
fn what_waits_for_a_turn_is_done_in_its_order() {
    let (table, _) = table(false);
    let order = Arc::new(Mutex::new(Vec::new()));
    let turn = table.turn().unwrap();
    std::thread::scope(|scope| {
        // On other threads: this thread has the turn.
        for n in 0..3 {
            let (order, table) = (order.clone(), &table);
            let job = move |turn: Option<&super::table::Turn<'_>>| order.lock().push((n, turn.is_some()));
            scope.spawn(move || table.in_turn(job)).join().unwrap();
        }
    });
    assert_eq!(*order.lock(), []);
    let own = order.clone();
    table.in_turn(move |turn| own.lock().push((9, turn.is_some())));
    assert!(table.turn().is_err(), "it is this thread's already");
    drop(turn);
    assert_eq!(*order.lock(), [(9, false), (0, true), (1, true), (2, true)]);
    assert!(table.turn().is_ok());
}

#[test]
fn a_callback_that_panics_gives_the_turn_up() {
    let (table, _) = table(false);
    let number = table.add_callback(Callback::On(Arc::new(|_| panic!("on purpose"))));
    let inside = table.clone();
    let panicked = std::thread::spawn(move || inside.turn().unwrap().set(vec![NamedValue::new("fixed", 2)]));
    assert!(panicked.join().is_err());
    table.remove_callback(number);
    assert_eq!(table.turn().unwrap().set(vec![NamedValue::new("fixed", 2)]), Ok(()));
}
