//! Service calls, beside zenoh's queries.

use std::path::Path;

use zenoh::Wait;
use zenoh::query::{ConsolidationMode, QueryTarget};

use super::hosts::{Gateways, Host, Network, Spinning, refused};
use super::one_by_one::one_by_one;
use crate::messages::{Bench, BenchRequest, BenchResponse};
use crate::process::PATIENCE;
use crate::{Error, Settings, Sheet, Side, found, nanoseconds, now_ns};

/// Measures the round trips of zenoh's queries, and of calls through embedded gateways.
pub(super) fn measure(path: &Path, sheet: &mut Sheet) -> Result<(), Error> {
    let key = "raw/call";
    let network = Network::new()?;
    let (asks, answers) = (network.session()?, network.session()?);
    let answering = answers.declare_queryable(key).complete(true).callback(move |query| {
        let payload = query.payload().map(|payload| payload.to_bytes().into_owned());
        let _ = query.reply(key, payload.unwrap_or_default()).wait(); // else the caller gets no answer
    });
    let _answering = answering.wait().map_err(refused)?;
    let hosts = Host::pair(&network, path, Gateways::Embedded)?;
    let server = hosts[1].context.node("server")?.server::<Bench>("call");
    server.callback(|_: &BenchRequest| BenchResponse::default())?.detach();
    let _serving = Spinning::start(&hosts[1].context)?;
    let client = hosts[0].context.node("client")?.client::<Bench>("call").create()?;
    found(&client)?;
    let ask = || {
        let asked = asks
            .get(key)
            .payload(vec![7u8; 20])
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .wait()
            .map_err(refused)?;
        match asked.recv_timeout(PATIENCE) {
            Ok(Some(_)) => Ok(now_ns()),
            Ok(None) | Err(_) => Err(Error::PeerSilent { what: "net", waited: PATIENCE }),
        }
    };
    let call = || {
        client.call(BenchRequest::default(), PATIENCE).map_err(sinew::Error::from)?;
        Ok(now_ns())
    };
    // The first calls may be made before the other session is known.
    let until = now_ns() + nanoseconds(PATIENCE);
    while let Err(error) = ask() {
        if now_ns() > until {
            return Err(error);
        }
    }
    call()?;
    let case = Settings::new().with("case", "service");
    let sides = vec![
        Side::floor("zenoh", case.clone(), |time| one_by_one(time, 1, ask)),
        Side::sinew(Gateways::Embedded.with(case), |time| one_by_one(time, 1, call)),
    ];
    sheet.measure("calls to another host", sides)
}
