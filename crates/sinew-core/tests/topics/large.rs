//! Values of arrays that are larger than stacks.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::support;

use sinew::prelude::*;
use std::sync::mpsc;
use support::{PATIENCE, Place, wait_for};

const LENGTH: usize = 1 << 20;

#[derive(Clone, Copy, Message)]
#[repr(C)]
#[message(plain)]
struct Plain {
    stamp: u64,
    data: [u8; LENGTH],
}

/// Not plain, as booleans are checked.
#[derive(Clone, Message)]
struct Checked {
    is_valid: bool,
    data: [u8; LENGTH],
}

/// A value of zeros in memory of the heap.
fn zeros<T>() -> Box<T> {
    // SAFETY: both types are of numbers and booleans.
    unsafe { Box::<T>::new_zeroed().assume_init() }
}

/// Published by one context, received by a callback in another one, on a thread with 2 MB of stack,
/// as tests have.
fn comes_across<T: Message + Clone>(fill: fn(&mut T), data: fn(&T) -> &[u8; LENGTH]) {
    let place = Place::new();
    let (out, into) = (place.context(), place.context());
    let publisher = out.node("camera").unwrap().publisher::<T>("frames").create().unwrap();
    let (tell, told) = mpsc::channel();
    let viewer = into.node("viewer").unwrap();
    let _subscription = viewer
        .subscription::<T>("frames")
        .callback(move |frame: &T| tell.send((data(frame)[0], data(frame)[LENGTH - 1])))
        .unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let executor = Executor::single();
    executor.add(&into).unwrap();
    for number in 1..=3 {
        let mut frame = zeros::<T>();
        fill(&mut frame);
        publisher.publish(frame).unwrap();
        let came = wait_for("the frame", || {
            executor.spin_some().unwrap();
            told.try_recv().ok()
        });
        assert_eq!(came, (1, 2), "message {number}");
    }
}

#[test]
fn values_larger_than_stacks_come_across() {
    comes_across::<Plain>(
        |frame| (frame.stamp, frame.data[0], frame.data[LENGTH - 1]) = (7, 1, 2),
        |frame| &frame.data,
    );
    comes_across::<Checked>(
        |frame| (frame.is_valid, frame.data[0], frame.data[LENGTH - 1]) = (true, 1, 2),
        |frame| &frame.data,
    );
}
