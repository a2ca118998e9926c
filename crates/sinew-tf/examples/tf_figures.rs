//! Benchmark of tf: a buffer of 100 frames with 10 s of 1 kHz history each, one thread.
//!
//! `cargo run --release -p sinew-tf --example tf_figures`
#![expect(clippy::unwrap_used, reason = "a program for measuring")]

use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_tf::{At, Buffer, StampedTransform, Transform};
use std::hint::black_box;

/// Number of links from the root to a leaf; there are ten such chains.
const LINKS: usize = 10;
const CHAINS: usize = 10;
/// Samples per second.
const RATE: i64 = 1000;
const SECONDS: i64 = 10;
const PERIOD: i64 = 1_000_000_000 / RATE;
const ROUNDS: usize = 9;

fn frame(chain: usize, link: usize) -> String {
    if link == 0 { "map".to_owned() } else { format!("robot_{chain}_link_{link}") }
}

fn message(chain: usize, link: usize, stamp: i64) -> TransformStamped {
    let angle = stamp as f64 * 1e-9 * (1.0 + link as f64 * 0.1);
    let transform = Transform::from_roll_pitch_yaw([angle.sin(), 0.1, 0.2], [0.1, 0.2, angle]);
    StampedTransform { stamp: Time::from_nanoseconds(stamp), transform }
        .to_msg(&frame(chain, link - 1), &frame(chain, link))
}

/// Returns the median over all rounds of the cost of one operation, in nanoseconds.
fn each(count: usize, mut round: impl FnMut(usize)) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|number| {
            let begin = Time::steady();
            round(number);
            (Time::steady() - begin).as_nanos() as f64 / count as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

fn main() {
    let buffer = Buffer::new();
    let begin = 1_000_000_000_000;
    let end = begin + SECONDS * 1_000_000_000;
    let fill = |stamp: i64| {
        for chain in 0..CHAINS {
            for link in 1..=LINKS {
                buffer.insert(&message(chain, link, stamp), "figures").unwrap();
            }
        }
    };
    for sample in 0..=SECONDS * RATE {
        fill(begin + sample * PERIOD);
    }

    // Times spread over the history, between stamps.
    let mut random = 88_172_645_463_325_252_u64;
    let mut time = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let span = (end - begin).unsigned_abs();
        At::Time(Time::from_nanoseconds(begin + (random % span).cast_signed()))
    };
    const LOOKUPS: usize = 20_000;
    let times: Vec<At> = (0..LOOKUPS).map(|_| time()).collect();
    let leaves: Vec<String> = (0..CHAINS).map(|chain| frame(chain, LINKS)).collect();
    let across = frame(0, LINKS / 2);
    let look = |target: &str, source: &str, at: At| {
        let _ = black_box(buffer.lookup(target, source, at).unwrap());
    };
    println!("{} frames, {} transforms each", buffer.frames().len(), SECONDS * RATE + 1);
    let recent =
        |number: usize| At::Time(Time::from_nanoseconds(end - 50_000_000 - (number as i64 % 100) * 100_000));
    let found = each(LOOKUPS, |_| (0..LOOKUPS).for_each(|number| look("map", &leaves[0], recent(number))));
    println!("lookup over 10 links, 50 to 60 ms ago: {found:.0} ns");
    let found = each(LOOKUPS, |_| times.iter().for_each(|at| look("map", &leaves[0], *at)));
    println!("lookup over 10 links, at any time of one chain: {found:.0} ns");
    let found = each(LOOKUPS, |_| {
        times.iter().enumerate().for_each(|(number, at)| look("map", &leaves[number % CHAINS], *at));
    });
    println!("lookup over 10 links, at any time of any chain: {found:.0} ns");
    let found = each(LOOKUPS, |_| (0..LOOKUPS).for_each(|_| look("map", &leaves[0], At::Latest)));
    println!("lookup over 10 links, latest: {found:.0} ns");
    let found = each(LOOKUPS, |_| times.iter().for_each(|at| look("map", &across, *at)));
    println!("lookup over 5 links, at any time: {found:.0} ns");

    // 100 frames per step, as on a running robot: old samples are dropped.
    const STEPS: i64 = 200;
    let messages: Vec<Vec<TransformStamped>> = (0..ROUNDS as i64)
        .map(|round| {
            let stamps = (1..=STEPS).map(|step| end + (round * STEPS + step) * PERIOD);
            stamps
                .flat_map(|stamp| {
                    (0..CHAINS)
                        .flat_map(move |chain| (1..=LINKS).map(move |link| message(chain, link, stamp)))
                })
                .collect()
        })
        .collect();
    let count = messages[0].len();
    let inserted = each(count, |round| {
        for message in &messages[round] {
            let _ = black_box(buffer.insert(message, "figures").unwrap());
        }
    });
    println!("insertion, 100 frames in turn: {inserted:.0} ns");
}
