//! Compares a buffer with a naive one that searches lists and multiplies matrices.

use crate::at;
use proptest::prelude::*;
use sinew_tf::{At, Buffer, LookupError, StampedTransform, Transform};

const FRAMES: u8 = 6;

#[derive(Debug, Clone)]
struct Sent {
    parent: u8,
    child: u8,
    /// `None`: for all times.
    stamp: Option<i64>,
    transform: Transform,
}

fn sent() -> impl Strategy<Value = Sent> {
    let angle = -3.0..3.0_f64;
    let place = prop::array::uniform3(-10.0..10.0_f64);
    (
        0..FRAMES,
        1..FRAMES,
        prop::option::weighted(0.9, 1..40_i64),
        place,
        [angle.clone(), angle.clone(), angle],
    )
        .prop_map(|(parent, offset, stamp, place, angles)| Sent {
            parent,
            child: (parent + offset) % FRAMES,
            stamp,
            transform: Transform::from_roll_pitch_yaw(place, angles),
        })
}

type Matrix = [[f64; 4]; 4];

fn matrix(transform: &Transform) -> Matrix {
    let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| transform.rotate(axis));
    let mut matrix = [[0.0; 4]; 4];
    for (row, line) in matrix.iter_mut().enumerate().take(3) {
        for (column, axis) in columns.iter().enumerate() {
            line[column] = axis[row];
        }
        line[3] = transform.translation[row];
    }
    matrix[3][3] = 1.0;
    matrix
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|row| std::array::from_fn(|column| (0..4).map(|k| a[row][k] * b[k][column]).sum()))
}

/// The transforms of each frame that are still valid, by stamp.
#[derive(Default)]
struct Oracle {
    moving: [Vec<(i64, u8, Transform)>; FRAMES as usize],
    fixed: [Option<(u8, Transform)>; FRAMES as usize],
    named: [bool; FRAMES as usize],
}

impl Oracle {
    fn insert(&mut self, sent: &Sent) {
        let child = usize::from(sent.child);
        self.named[child] = true;
        self.named[usize::from(sent.parent)] = true;
        match sent.stamp {
            None => {
                self.moving[child].clear();
                self.fixed[child] = Some((sent.parent, sent.transform));
            }
            Some(stamp) => {
                self.fixed[child] = None;
                self.moving[child].retain(|(other, ..)| *other != stamp);
                self.moving[child].push((stamp, sent.parent, sent.transform));
                self.moving[child].sort_by_key(|(stamp, ..)| *stamp);
            }
        }
    }

    /// Returns the parent of a frame at a time, and the transform.
    fn link(&self, frame: u8, time: i64) -> Option<(u8, Transform)> {
        let frame = usize::from(frame);
        if let Some(link) = self.fixed[frame] {
            return Some(link);
        }
        let older = self.moving[frame].iter().rfind(|(stamp, ..)| *stamp <= time)?;
        let newer = self.moving[frame].iter().find(|(stamp, ..)| *stamp >= time)?;
        if older.0 == newer.0 || older.1 != newer.1 {
            return Some((older.1, older.2));
        }
        let ratio = (time - older.0) as f64 / (newer.0 - older.0) as f64;
        Some((older.1, older.2.interpolate(&newer.2, ratio)))
    }

    /// Returns the last parent of a frame and the transform.
    fn last_link(&self, frame: u8) -> Option<(u8, Transform)> {
        let moving = || self.moving[usize::from(frame)].last().map(|(_, parent, link)| (*parent, *link));
        self.fixed[usize::from(frame)].or_else(moving)
    }

    /// Climbs to the root, or to the first frame of a loop: returns each frame with the pose of the
    /// first one in it, and whether there is a loop.
    fn climb(&self, from: u8, link: impl Fn(u8) -> Option<(u8, Transform)>) -> (Vec<(u8, Matrix)>, bool) {
        let mut way = vec![(from, matrix(&Transform::IDENTITY))];
        while let Some((parent, link)) = link(way[way.len() - 1].0) {
            if let Some(again) = way.iter().position(|(frame, _)| *frame == parent) {
                way.truncate(again + 1);
                return (way, true);
            }
            let next = product(&matrix(&link), &way[way.len() - 1].1);
            way.push((parent, next));
        }
        (way, false)
    }

    /// Returns the latest time that the links between two frames have in common; 0 without moving
    /// links, `None` if the frames don't meet.
    fn latest(&self, target: u8, source: u8) -> Option<i64> {
        let ways = [target, source].map(|from| self.climb(from, |frame| self.last_link(frame)).0);
        let meeting = ways[0]
            .iter()
            .map(|(frame, _)| *frame)
            .find(|frame| ways[1].iter().any(|(other, _)| other == frame))?;
        let below = ways
            .iter()
            .flat_map(|way| way.iter().map(|(frame, _)| *frame).take_while(|frame| *frame != meeting));
        Some(below.filter_map(|frame| Some(self.moving[usize::from(frame)].last()?.0)).min().unwrap_or(0))
    }
}

/// Checks that the target's pose times the answer is the source's pose, in the frame where they
/// meet.
fn holds(
    oracle: &Oracle,
    target: u8,
    source: u8,
    time: i64,
    answer: &Result<StampedTransform, LookupError>,
) -> bool {
    if target == source {
        return answer.as_ref().is_ok_and(|found| found.transform == Transform::IDENTITY);
    }
    if !oracle.named[usize::from(target)] || !oracle.named[usize::from(source)] {
        return matches!(answer, Err(LookupError::UnknownFrame { .. }));
    }
    let [(down, down_loops), (up, up_loops)] =
        [target, source].map(|from| oracle.climb(from, |frame| oracle.link(frame, time)));
    let meeting =
        up.iter().find_map(|(frame, up)| Some((down.iter().find(|(other, _)| other == frame)?.1, *up)));
    match (meeting, answer) {
        (None, Err(LookupError::UnknownFrame { .. })) => false,
        (None, Err(error)) => matches!(error, LookupError::Loop { .. }) || !down_loops && !up_loops,
        (Some((down, up)), Ok(found)) => {
            let there = product(&down, &matrix(&found.transform));
            there.iter().flatten().zip(up.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-6)
        }
        _ => false,
    }
}

fn name(frame: u8) -> String {
    format!("frame_{frame}")
}

proptest! {
    #[test]
    fn a_buffer_is_a_list_of_what_was_sent(
        all in proptest::collection::vec(sent(), 0..40),
        asked in proptest::collection::vec((0..FRAMES, 0..FRAMES, 0..42_i64), 20),
    ) {
        let (buffer, mut oracle) = (Buffer::new(), Oracle::default());
        for sent in &all {
            let placed = StampedTransform { stamp: at(sent.stamp.unwrap_or(0)), transform: sent.transform };
            let message = placed.to_msg(&name(sent.parent), &name(sent.child));
            let inserted = match sent.stamp {
                Some(_) => buffer.insert(&message, "test"),
                None => buffer.insert_static(&message, "test"),
            };
            prop_assert!(inserted.is_ok());
            oracle.insert(sent);
        }
        for (target, source, time) in asked {
            let answer = buffer.lookup(&name(target), &name(source), At::Time(at(time)));
            prop_assert!(holds(&oracle, target, source, time, &answer), "{target} {source} {time}: {answer:?}");
            // The latest transform is that at the latest time in common (unless a lookup at that
            // time runs into a loop above the meeting point, through which the latest need not
            // climb).
            let latest = buffer.lookup(&name(target), &name(source), At::Latest);
            match oracle.latest(target, source) {
                Some(time) if target != source => {
                    let loops = [target, source].map(|from| oracle.climb(from, |frame| oracle.link(frame, time)).1);
                    let is_right = loops.contains(&true) || holds(&oracle, target, source, time, &latest);
                    prop_assert!(is_right, "{target} {source}: {latest:?}");
                    prop_assert!(latest.is_err() || latest.is_ok_and(|found| found.stamp == at(time)));
                }
                Some(_) => prop_assert!(latest.is_ok()),
                None => prop_assert!(latest.is_err(), "{latest:?}"),
            }
        }
    }
}
