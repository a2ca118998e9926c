//! B4: a pool lends each block to one holder at a time, and frees each once.

use super::{Probe, check};
use crate::message::block::Pool;
use crate::message::handle::Unique;
use crate::message::type_support::TypeSupport;
use crate::sys::sync::Arc;
use loom::thread;

fn loan(pool: &Arc<Pool>) -> Unique<Probe> {
    Unique::assume(pool.loan::<Probe>())
}

/// A block that one thread releases is lent to another with everything written to it, and to no
/// third thread.
///
/// Fails if a lent block stays in the list.
#[test]
fn a_block_moves_between_threads() {
    check(6, || {
        Probe::reset_counts();
        let pool = Pool::of_table(TypeSupport::of::<Probe>(), 1);
        let first = loan(&pool);
        let other = Arc::clone(&pool);
        let thread = thread::spawn(move || {
            first.write(1);
            drop(first); // goes home
            let second = loan(&other);
            second.write(2);
        });
        let third = loan(&pool); // the block, or a new one
        third.write(3);
        assert_eq!(third.read(), 3);
        drop(third);
        thread.join().unwrap();
        assert!(pool.made() <= 1);
        pool.close();
        assert_eq!(pool.made(), 0);
        let made = super::MADE.get();
        Probe::expect_counts(made, made);
    });
}

/// Two threads lend at once from a pool with one block: one of them gets it, the other a new one.
///
/// Fails if a lent block stays in its place, or if a thread that doesn't get it touches it.
#[test]
fn two_threads_lend_at_once() {
    check(6, || {
        Probe::reset_counts();
        let pool = Pool::of_table(TypeSupport::of::<Probe>(), 1);
        drop(loan(&pool)); // the block waits for the next message
        let other = Arc::clone(&pool);
        let thread = thread::spawn(move || {
            let ours = loan(&other);
            ours.write(1);
            assert_eq!(ours.read(), 1);
        });
        let ours = loan(&pool);
        ours.write(2);
        assert_eq!(ours.read(), 2);
        drop(ours);
        thread.join().unwrap();
        pool.close();
        let made = super::MADE.get();
        Probe::expect_counts(made, made);
    });
}

/// Closing a pool while its blocks come home: every value is dropped once, and no block stays
/// behind.
///
/// Fails if `put_away` doesn't check `is_closed`, or if a place isn't closed (B6).
#[test]
fn closing_while_a_block_comes_home() {
    check(6, || {
        Probe::reset_counts();
        let pool = Pool::of_table(TypeSupport::of::<Probe>(), 2);
        let one = loan(&pool);
        let two = loan(&pool).into_shared();
        let three = two.clone();
        let threads = [
            thread::spawn(move || {
                one.write(1);
                drop((one, two));
            }),
            thread::spawn(move || {
                assert_eq!(three.read(), 0);
                drop(three);
            }),
        ];
        pool.close();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(pool.made(), 0);
        Probe::expect_counts(2, 2);
    });
}

/// The publisher's handle to the pool may be dropped before its blocks are.
///
/// Fails if B1 is Relaxed.
#[test]
fn a_pool_outlives_its_publisher() {
    check(6, || {
        Probe::reset_counts();
        let pool = Pool::of_table(TypeSupport::of::<Probe>(), 1);
        let kept = loan(&pool).into_shared();
        let other = kept.clone();
        let thread = thread::spawn(move || assert_eq!(other.read(), 0));
        pool.close();
        drop(pool);
        drop(kept);
        thread.join().unwrap();
        Probe::expect_counts(1, 1);
    });
}
