//! A chain that goes to the other host at each hop.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use sinew::{Publisher, Subscription};
use zenoh::{Session, Wait};

use super::hosts::{Gateways, Host, Network, Spinning, refused};
use super::messages::HEAD;
use super::one_by_one::{await_told, one_by_one, tell};
use crate::messages::Stamped;
use crate::{Error, Settings, Sheet, Side, matched};

/// Number of relays between source and sink.
const RELAYS: u32 = 10;

/// Number of hops from source to sink.
const HOPS: u32 = RELAYS + 1;

/// The hop to the sink.
const LAST: usize = RELAYS as usize;

/// Measures bare zenoh, with callbacks as relays, and embedded gateways: the time per hop.
pub(super) fn measure(path: &Path, sheet: &mut Sheet) -> Result<(), Error> {
    let network = Network::new()?;
    let sessions = [network.session()?, network.session()?];
    let raw = RawChain::open(&sessions)?;
    let hosts = Host::pair(&network, path, Gateways::Embedded)?;
    let ours = Chain::open(&hosts)?;
    let _spinning = [Spinning::start(&hosts[0].context)?, Spinning::start(&hosts[1].context)?];
    let by_zenoh = |time| {
        one_by_one(time, HOPS, || {
            raw.source.put(vec![7u8; 64]).wait().map_err(refused)?;
            await_told(&raw.came)
        })
    };
    let message = Stamped { data: vec![7; 64 - HEAD], ..Stamped::default() };
    let by_us = |time| {
        one_by_one(time, HOPS, || {
            ours.source.publish(&message).map_err(sinew::Error::from)?;
            await_told(&ours.came)
        })
    };
    let case = Settings::new().with("case", "chain").with("relays", RELAYS);
    let ours = Side::sinew(Gateways::Embedded.with(case.clone()), by_us);
    sheet.measure("a chain over two hosts", vec![Side::floor("zenoh", case, by_zenoh), ours])
}

struct RawChain {
    source: zenoh::pubsub::Publisher<'static>,
    _hops: Vec<zenoh::pubsub::Subscriber<()>>,
    came: Receiver<i64>,
}

impl RawChain {
    fn open(sessions: &[Session; 2]) -> Result<Self, Error> {
        let publisher = |hop: usize| {
            let publisher = sessions[hop % 2].declare_publisher(format!("raw/hop{hop}"));
            publisher.wait().map_err(refused)
        };
        let (to, came) = channel();
        let mut hops = Vec::new();
        for hop in 0..LAST {
            let next = publisher(hop + 1)?;
            let subscriber = sessions[(hop + 1) % 2].declare_subscriber(format!("raw/hop{hop}"));
            let relay = subscriber.callback(move |sample| {
                let _ = next.put(sample.payload().to_bytes().into_owned()).wait(); // else nothing arrives
            });
            hops.push(relay.wait().map_err(refused)?);
        }
        let told = tell(&to);
        let sink = sessions[(LAST + 1) % 2].declare_subscriber(format!("raw/hop{LAST}"));
        hops.push(sink.callback(move |_| told()).wait().map_err(refused)?);
        Ok(Self { source: publisher(0)?, _hops: hops, came })
    }
}

struct Chain {
    source: Publisher<Stamped>,
    _hops: Vec<Subscription<Stamped>>,
    came: Receiver<i64>,
}

impl Chain {
    fn open(hosts: &[Host; 2]) -> Result<Self, Error> {
        let node = |hop: usize| hosts[hop % 2].context.node(&format!("relay{hop}"));
        let (to, came) = channel();
        let mut hops = Vec::new();
        let mut next: Vec<Publisher<Stamped>> = Vec::new();
        for hop in 0..=LAST {
            next.push(node(hop)?.publisher(&format!("hop{hop}")).create()?);
        }
        for hop in 0..LAST {
            let on = next[hop + 1].clone();
            let relay = node(hop + 1)?.subscription::<Stamped>(&format!("hop{hop}"));
            hops.push(relay.callback(move |message: &Stamped| on.publish(message))?);
        }
        let told = tell(&to);
        let sink = node(LAST + 1)?.subscription::<Stamped>(&format!("hop{LAST}"));
        hops.push(sink.callback(move |_: &Stamped| told())?);
        next.iter().try_for_each(|publisher| matched(publisher, 1))?;
        Ok(Self { source: next.swap_remove(0), _hops: hops, came })
    }
}
