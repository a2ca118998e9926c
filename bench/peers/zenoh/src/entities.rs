//! The cost of a publisher with its subscriber, each pair on a key of its own.

use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use sinew_bench::machine::Own;
use sinew_bench::pairs::{self, Cost};
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

/// Measures all of them in one session.
pub fn within(pairs: u32) -> Result<Figures> {
    let session = sessions::alone()?;
    let pair = |number| -> Result<_> { Ok((publisher(&session, number)?, subscriber(&session, number)?)) };
    let cost = pairs::within(pairs, pair, || Ok(()))?;
    session.close().wait().said("closing a session")?;
    Ok(cost.figures(pairs.into(), Figures::default()))
}

/// Measures with the publishers here, the subscribers in another process: until each publisher has
/// matched.
pub fn between(case: &Case, pairs: u32) -> Result<Figures> {
    with_other(case, Memory::Heap, false, |session, start| {
        let first = publisher(session, u32::MAX)?;
        let mut other = start()?;
        matched(&first)?;
        let mut publishers = Vec::with_capacity(pairs as usize);
        let before = Own::now();
        let start = now_ns();
        other.order(&())?;
        for number in 0..pairs {
            publishers.push(publisher(session, number)?);
        }
        publishers.iter().try_for_each(matched)?;
        let create_ns = now_ns() - start;
        let own = Own::since(before) + other.hear()?;
        other.finish::<()>()?;
        Ok(Cost { create_ns, destroy_ns: None, own }.figures(pairs.into(), Figures::default()))
    })
}

/// In the other process: creates its subscribers when ordered to.
pub fn serve(other: &Other, pairs: u32, measuring: Measuring) -> Result<()> {
    let session = join(other, Memory::Heap)?;
    let _first = subscriber(&session, u32::MAX)?;
    let mut subscribers = Vec::with_capacity(pairs as usize);
    let before = Own::now();
    measuring.tell(&())?;
    measuring.order::<()>()?;
    for number in 0..pairs {
        subscribers.push(subscriber(&session, number)?);
    }
    measuring.tell(&Own::since(before))?;
    while measuring.order::<()>()?.is_some() {}
    measuring.tell(&())?;
    session.close().wait().said("closing a session")
}
