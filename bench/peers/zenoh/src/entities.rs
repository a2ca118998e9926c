//! What a publisher with its subscriber costs, each pair on a key of its own.

use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use sinew_bench::machine::{anonymous_bytes, resident_bytes};
use sinew_bench::report::tenth;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::{Session, Wait as _};

use crate::between::{join, with_other};
use crate::sessions::{self, Memory, Said as _, key, matched};

fn publisher(session: &Session, number: u32) -> Result<Publisher<'static>> {
    session.declare_publisher(key("topic", number)?).wait().said("declaring a publisher")
}

fn subscriber(session: &Session, number: u32) -> Result<Subscriber<()>> {
    let subscriber = session.declare_subscriber(key("topic", number)?).callback(|_| ());
    subscriber.wait().said("declaring a subscriber")
}

fn figures(pairs: u32, create_ns: i64, destroy_ns: Option<i64>, bytes: i64) -> Figures {
    let per_pair = |figure: i64| Some(tenth(figure as f64 / f64::from(pairs)));
    Figures {
        create_ns_per_pair: per_pair(create_ns),
        destroy_ns_per_pair: destroy_ns.and_then(per_pair),
        rss_bytes_per_pair: per_pair(bytes),
        ..Figures::default()
    }
}

/// All of them in one session.
pub fn within(pairs: u32) -> Result<Figures> {
    let session = sessions::alone()?;
    let resident = || resident_bytes().unwrap_or(0).cast_signed();
    // What the first ones make once for all is not theirs.
    let _first = (publisher(&session, u32::MAX)?, subscriber(&session, u32::MAX)?);
    let (mut publishers, mut subscribers) =
        (Vec::with_capacity(pairs as usize), Vec::with_capacity(pairs as usize));
    let before = resident();
    let start = now_ns();
    for number in 0..pairs {
        publishers.push(publisher(&session, number)?);
        subscribers.push(subscriber(&session, number)?);
    }
    let create_ns = now_ns() - start;
    let bytes = resident() - before;
    let start = now_ns();
    drop((publishers, subscribers));
    let destroy_ns = now_ns() - start;
    session.close().wait().said("closing a session")?;
    Ok(figures(pairs, create_ns, Some(destroy_ns), bytes))
}

/// Memory of this process that isn't shared with another, in bytes.
fn own_bytes() -> i64 {
    anonymous_bytes().unwrap_or(0).cast_signed()
}

/// The publishers here, the subscribers in another process: until each publisher knows its
/// subscriber.
pub fn between(case: &Case, pairs: u32) -> Result<Figures> {
    with_other(case, Memory::Heap, false, |session, start| {
        let first = publisher(session, u32::MAX)?;
        let mut other = start()?;
        let others_before = other.hear::<i64>()?;
        matched(&first)?;
        let mut publishers = Vec::with_capacity(pairs as usize);
        let before = own_bytes();
        let start = now_ns();
        other.order(&())?;
        for number in 0..pairs {
            publishers.push(publisher(session, number)?);
        }
        publishers.iter().try_for_each(matched)?;
        let create_ns = now_ns() - start;
        let bytes = own_bytes() - before + other.hear::<i64>()? - others_before;
        other.finish::<()>()?;
        Ok(figures(pairs, create_ns, None, bytes))
    })
}

/// In the other process: makes its subscribers when told.
pub fn serve(other: &Other, pairs: u32, measuring: Measuring) -> Result<()> {
    let session = join(other, Memory::Heap)?;
    let _first = subscriber(&session, u32::MAX)?;
    let mut subscribers = Vec::with_capacity(pairs as usize);
    measuring.tell(&())?;
    measuring.tell(&own_bytes())?;
    measuring.order::<()>()?;
    for number in 0..pairs {
        subscribers.push(subscriber(&session, number)?);
    }
    measuring.tell(&own_bytes())?;
    while measuring.order::<()>()?.is_some() {}
    measuring.tell(&())?;
    session.close().wait().said("closing a session")
}
