//! Generates inputs, and prints the one that fails.
#![expect(clippy::disallowed_methods, reason = "how long a test goes on is its own business")]

use crate::mutation::{Random, mutate};
use std::env;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Number of inputs in an ordinary run of a test.
const FEW: u64 = 3000;

/// Number of inputs of a kind that are kept for further mutation.
const KEPT: usize = 300;

pub(crate) type Check<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

/// A kind of input.
pub(crate) struct Kind<'a> {
    pub(crate) name: String,
    /// The initial inputs.
    pub(crate) inputs: Vec<Vec<u8>>,
    /// The words of such inputs; empty if inputs are encoded messages.
    pub(crate) words: &'a [&'a str],
    /// Returns whether the input was accepted. Panics if a property is violated.
    pub(crate) check: Check<'a>,
}

/// The end of a run.
enum End {
    After(u64),
    At(Instant),
}

pub(crate) fn fuzz(mut kinds: Vec<Kind<'_>>) {
    let (mut random, end) = match env::var("SINEW_FUZZ") {
        Ok(seconds) => {
            let seconds = seconds.parse().expect("SINEW_FUZZ is a number of seconds");
            (Random(RandomState::new().hash_one(0)), End::At(Instant::now() + Duration::from_secs(seconds)))
        }
        Err(_) => (Random(1), End::After(FEW)),
    };
    for kind in &kinds {
        for input in &kind.inputs {
            assert!(run(kind, input), "{} begins with what is right: {}", kind.name, input.escape_ascii());
        }
    }
    let (mut count, mut understood) = (0_u64, 0_u64);
    while match end {
        End::After(enough) => count < enough,
        End::At(end) => count % 64 != 0 || Instant::now() < end,
    } {
        let at = random.below(kinds.len());
        let kind = &mut kinds[at];
        let mut input = kind.inputs[random.below(kind.inputs.len())].clone();
        let other = &kind.inputs[random.below(kind.inputs.len())];
        mutate(&mut random, &mut input, other, kind.words);
        count += 1;
        if run(kind, &input) {
            understood += 1;
            let place = random.below(KEPT);
            match kind.inputs.get_mut(place) {
                Some(kept) => *kept = input,
                None => kind.inputs.push(input),
            }
        }
    }
    println!("{count} inputs, {understood} of them were understood");
    assert!(understood > count / 100, "hardly anything was understood: this tests nothing");
}

fn run(kind: &Kind<'_>, input: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| (kind.check)(input)))
        .unwrap_or_else(|_| panic!("{}, with the input \"{}\"", kind.name, input.escape_ascii()))
}
