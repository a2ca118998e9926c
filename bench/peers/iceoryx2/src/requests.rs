//! One client and one server in two processes, by request-response.

use std::sync::atomic::Ordering;

use harness::pingpong::{Answer, Rally};
use harness::{Case, Figures, Measuring, Other, Process, Result};
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::Client;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::prelude::{Node, ipc};
use iceoryx2::service::port_factory::request_response::PortFactory;
use sinew_bench::machine::pin_to;

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::pingpong::{measure, serve_until_told, sleeping};
use crate::ports::{bell, listener, wait_for, while_alive};

/// A request, and its answer: number and time.
type Words = [u64; 2];

/// Names of the service, and of the listener of each side.
const SERVICE: &str = "service";
const REQUESTS: &str = "requests";
const ANSWERS: &str = "answers";

fn service(node: &Node<ipc::Service>) -> Result<PortFactory<ipc::Service, Words, (), Words, ()>> {
    // With the settings of iceoryx2's own benchmark of request-response.
    let service = node.service_builder(&SERVICE.try_into()?).request_response::<Words, Words>();
    Ok(service.max_servers(1).max_clients(1).max_response_buffer_size(1).open_or_create()?)
}

pub fn run(case: &Case) -> Result<Figures> {
    let cores = harness::two_cores()?;
    let domain = Domain::create()?;
    let node = domain.node()?;
    let service = service(&node)?;
    let client = service.client_builder().create()?;
    let listener = sleeping(case).then(|| listener(&node, ANSWERS)).transpose()?;
    let mut other = harness::start::<Iceoryx2>(case, Some(cores.1), domain.name())?;
    other.hear::<()>()?;
    let bell = sleeping(case).then(|| bell(&node, REQUESTS)).transpose()?;
    pin_to(cores.0)?;
    measure(case, Calls { client, pending: None, listener, bell, other }, |calls| calls.other)
}

/// The side that calls.
struct Calls {
    client: Client<ipc::Service, Words, (), Words, ()>,
    pending: Option<PendingResponse<ipc::Service, Words, (), Words, ()>>,
    listener: Option<Listener<ipc::Service>>,
    bell: Option<Notifier<ipc::Service>>,
    other: Process,
}

impl Rally<anyhow::Error> for Calls {
    fn send(&mut self, number: u64) -> Result<()> {
        self.pending = Some(self.client.loan_uninit()?.write_payload([number, 0]).send()?);
        if let Some(bell) = &self.bell {
            bell.notify()?;
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer> {
        let pending = self.pending.take().ok_or_else(|| anyhow::anyhow!("nothing was asked"))?;
        let poll = || Ok(pending.receive()?);
        let answer = wait_for(self.listener.as_ref(), poll, while_alive(&mut self.other))?;
        let answer = answer.ok_or_else(|| anyhow::anyhow!("there was no answer"))?;
        Ok(Answer { number: answer[0], end_ns: None })
    }
}

pub fn serve(other: &Other, measuring: Measuring) -> Result<()> {
    let node = domain::node(&other.note)?;
    let server = service(&node)?.server_builder().create()?;
    let sleeps = sleeping(&other.case);
    let listener = sleeps.then(|| listener(&node, REQUESTS)).transpose()?;
    let bell = sleeps.then(|| bell(&node, ANSWERS)).transpose()?;
    let poll = || Ok(server.receive()?);
    let woken = sleeps.then(|| REQUESTS.to_owned());
    serve_until_told(measuring, &other.note, woken, |goes_on| {
        let goes_on = || Ok(goes_on.load(Ordering::Relaxed));
        while let Some(request) = wait_for(listener.as_ref(), poll, goes_on)? {
            request.loan_uninit()?.write_payload([request[0], 0]).send()?;
            if let Some(bell) = &bell {
                bell.notify()?;
            }
        }
        Ok(())
    })
}
