//! Names.

use crate::processes::{Directory, next_line, role, say, until};
use sinew_shm::raw::{OpenError, Queue, Topic, Variable};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Pose {
    x: f64,
    y: f64,
}

mod other_program {
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    pub(super) struct Pose {
        pub(super) x: f32,
        pub(super) y: f32,
    }

    pub(super) mod newer {
        /// The same as the outer one, in a module of its own.
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        pub(in super::super) struct Pose {
            pub(in super::super) x: f64,
            pub(in super::super) y: f64,
        }
    }
}

#[test]
fn a_name_in_use_for_something_else_is_an_error_that_names_both() {
    const TEST: &str = "names::a_name_in_use_for_something_else_is_an_error_that_names_both";
    if role().is_some() {
        let topic = Topic::<Pose>::open("pose").unwrap();
        topic.write(&Pose { x: 1.0, y: 2.0 }).unwrap();
        say("open");
        next_line();
        drop(topic);
        say("closed");
        next_line();
        return;
    }
    let directory = Directory::new();
    let space = directory.space();
    let mut other = directory.start(TEST, "other");
    assert_eq!(other.next_line(), "open");
    let theirs = "a topic of `Pose` (16 bytes)";
    let pid = format!("process {}", other.pid());
    let refused = [
        (Queue::<Pose>::open_in(&space, "pose").map(drop), "a queue of `Pose` (16 bytes)"),
        (Variable::<Pose>::open_in(&space, "pose").map(drop), "a variable of `Pose` (16 bytes)"),
        (Topic::<u64>::open_in(&space, "pose").map(drop), "a topic of `u64` (8 bytes)"),
        (Topic::<other_program::Pose>::open_in(&space, "pose").map(drop), "a topic of `Pose` (8 bytes)"),
        (Topic::<[Pose]>::open_in(&space, "pose").map(drop), "a topic of `[Pose]` (elements of 16 bytes)"),
    ];
    for (refused, ours) in refused {
        let error = refused.unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(ours) && text.contains(theirs) && text.contains(&pid), "{text}");
    }
    // The same type in another program's module.
    let mut same = Topic::<other_program::newer::Pose>::open_in(&space, "pose").unwrap();
    let pose = same.read().unwrap().unwrap();
    assert_eq!((pose.x, pose.y), (1.0, 2.0));
    // In this process as well.
    let error = Queue::<u8>::open_in(&space, "pose").unwrap_err().to_string();
    assert!(error.contains("a queue of `u8` (1 bytes)") && error.contains(theirs), "{error}");
    drop(same);
    other.say("close");
    assert_eq!(other.next_line(), "closed");
    // The name is free again.
    let mut queue = Queue::<u8>::open_in(&space, "pose").unwrap();
    queue.join().unwrap();
    other.say("end");
    other.end();
}

#[test]
fn of_two_kinds_at_once_one_has_the_name() {
    let directory = Directory::new();
    let spaces = [directory.space(), directory.space()];
    for _ in 0..30 {
        let barrier = Barrier::new(2);
        let (topic, queue) = std::thread::scope(|scope| {
            let topic = scope.spawn(|| {
                barrier.wait();
                Topic::<u8>::open_in(&spaces[0], "x")
            });
            let queue = scope.spawn(|| {
                barrier.wait();
                Queue::<u8>::open_in(&spaces[1], "x")
            });
            (topic.join().unwrap(), queue.join().unwrap())
        });
        assert!(topic.is_ok() != queue.is_ok(), "{topic:?} {queue:?}");
    }
}

#[test]
fn many_names_and_handles_leave_nothing() {
    let directory = Directory::new();
    let (here, there) = (directory.space(), directory.space());
    for round in 0..3u64 {
        let topics: Vec<_> = (0..50u64)
            .map(|name| {
                let name = format!("t{name}");
                (Topic::<u64>::open_in(&here, &name).unwrap(), Topic::<u64>::open_in(&there, &name).unwrap())
            })
            .collect();
        for (number, (writer, _)) in (0..).zip(&topics) {
            writer.write(&(round * 1000 + number)).unwrap();
        }
        for (number, (_, mut reader)) in (0..).zip(topics) {
            let mut found = None;
            until("it comes", || {
                found = reader.read().unwrap();
                found.is_some()
            });
            assert_eq!(found.unwrap().value, round * 1000 + number);
        }
    }
    drop((here, there));
    directory.becomes_empty();
}

/// A directory that fewer users may enter than its base is worth a warning, which runs the
/// program's logger.
#[test]
fn a_warning_of_the_default_space_comes_under_no_lock() {
    const TEST: &str = "names::a_warning_of_the_default_space_comes_under_no_lock";
    if role().is_some() {
        let pose = Topic::<u32>::open("pose").unwrap();
        say("open");
        next_line();
        return drop(pose);
    }
    let directory = Directory::new();
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o1777)).unwrap();
    std::fs::create_dir(directory.path().join("0")).unwrap();
    std::fs::set_permissions(directory.path().join("0"), Permissions::from_mode(0o700)).unwrap();
    let mut other = directory.start(TEST, "other");
    assert_eq!(other.next_line(), "open");
}
