//! The cost of a publisher with its subscription, whatever connects them.

use crate::machine::{Own, resident_bytes};
use crate::{Figures, now_ns};

/// The total cost of all pairs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Time until all have matched.
    pub create_ns: i64,
    /// Time for dropping them, if it is measured.
    pub destroy_ns: Option<i64>,
    /// Their memory, and the CPU time for creating them, of all processes.
    pub own: Own,
}

impl Cost {
    /// Adds the cost of each of `pairs` to other figures of the round.
    pub fn figures(self, pairs: u64, others: Figures) -> Figures {
        let per_pair = |figure: i64| Some(figure as f64 / pairs as f64);
        Figures {
            create_ns_per_pair: per_pair(self.create_ns),
            create_cpu_ns_per_pair: per_pair(self.own.cpu_ns),
            destroy_ns_per_pair: self.destroy_ns.and_then(per_pair),
            rss_bytes_per_pair: per_pair(self.own.bytes),
            ..others
        }
    }
}

/// Creates all pairs in this process, calls `meanwhile`, and drops them. `pair` creates the one
/// with the given number, and waits until it has matched.
///
/// # Errors
///
/// The errors of `pair` and of `meanwhile`.
pub fn within<P, S, E>(
    pairs: u32,
    mut pair: impl FnMut(u32) -> Result<(P, S), E>,
    meanwhile: impl FnOnce() -> Result<(), E>,
) -> Result<Cost, E> {
    // Memory that is allocated once, with the first pair, doesn't count.
    let _first = pair(u32::MAX)?;
    let (mut publishers, mut subscribers) =
        (Vec::with_capacity(pairs as usize), Vec::with_capacity(pairs as usize));
    let resident = || resident_bytes().unwrap_or(0).cast_signed();
    let (resident_before, before) = (resident(), Own::now());
    let start = now_ns();
    for number in 0..pairs {
        let (publisher, subscriber) = pair(number)?;
        publishers.push(publisher);
        subscribers.push(subscriber);
    }
    let create_ns = now_ns() - start;
    let cpu_ns = Own::since(before).cpu_ns;
    // With a single process, all memory counts.
    let own = Own { bytes: resident() - resident_before, cpu_ns };
    meanwhile()?;
    let start = now_ns();
    drop((publishers, subscribers));
    Ok(Cost { create_ns, destroy_ns: Some(now_ns() - start), own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_told_by_the_pair() {
        let own = Own { bytes: 4000, cpu_ns: 600 };
        let cost = Cost { create_ns: 500, destroy_ns: None, own };
        let figures = cost.figures(10, Figures { messages: Some(3), ..Figures::default() });
        assert_eq!((figures.create_ns_per_pair, figures.create_cpu_ns_per_pair), (Some(50.0), Some(60.0)));
        assert_eq!((figures.destroy_ns_per_pair, figures.rss_bytes_per_pair), (None, Some(400.0)));
        assert_eq!(figures.messages, Some(3));
    }

    #[test]
    fn every_pair_is_made_once_and_one_before() {
        let mut made = Vec::new();
        let pair = |number| {
            made.push(number);
            Ok::<_, ()>((number, number))
        };
        let cost = within(3, pair, || Ok(())).unwrap();
        assert_eq!(made, [u32::MAX, 0, 1, 2]);
        assert!(cost.destroy_ns.is_some());
    }
}
