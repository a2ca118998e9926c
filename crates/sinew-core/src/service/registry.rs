//! The services of a context by name.
//!
//! Everything here runs when an endpoint is created or destroyed, or when the context ends; a call
//! never comes here. A queue exists while it has an endpoint: endpoints are added and removed under
//! the lock of the names, and the queue is removed with its last one.

use super::pending_calls::{PendingCalls, RemoteServer};
use super::request::RefusedRequest;
use super::request_queue::server_core::ServerCore;
use super::request_queue::{Opened, RequestQueue};
use super::types::ServiceTypes;
use crate::ros::failure::CreateError;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::{Arc, Mutex};
use crate::topic::endpoint_info::{EndpointInfo, Wanted};
use crate::topic::graph::survey::{MOST, Offered, OneSided, Used};
use crate::topic::session::Session;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The services of a context.
pub(crate) struct ServiceRegistry {
    session: Arc<Session>,
    names: Mutex<HashMap<Arc<str>, Arc<RequestQueue>>>,
}

impl ServiceRegistry {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: session.clone(), names: Mutex::default() }
    }

    /// Adds an endpoint to the queue of that name, which is created if there is none.
    fn enter<T>(&self, name: &str, enter: impl FnOnce(&Arc<RequestQueue>) -> T) -> T {
        let mut names = self.names.lock();
        if !names.contains_key(name) {
            let name: Arc<str> = name.into();
            names.insert(name.clone(), RequestQueue::new(name, self.session.clone()));
        }
        enter(&names[name])
    }

    /// Removes an endpoint, and the queue if that was its last one.
    fn leave<T>(&self, name: &str, leave: impl FnOnce(&RequestQueue) -> T) -> Option<T> {
        let mut names = self.names.lock();
        let requests = names.get(name)?;
        let left = leave(requests);
        let gone = if requests.is_unused() { names.remove(name) } else { None };
        drop(names);
        drop(gone);
        Some(left)
    }

    /// Adds a client; returns the queue for its requests.
    pub(crate) fn add_client(&self, calls: &Arc<PendingCalls>) -> Arc<RequestQueue> {
        let requests = self.enter(&calls.service, |requests| {
            requests.add_client(calls);
            requests.clone()
        });
        self.session.graph_changed();
        if let Some(reason) = requests.mismatch(&calls.types) {
            warn(&calls.node, &calls.service, "client", &reason);
        }
        requests
    }

    pub(crate) fn remove_client(&self, calls: &Arc<PendingCalls>) {
        self.leave(&calls.service, |requests| requests.remove_client(calls));
        self.session.graph_changed();
    }

    /// Adds a server, which is created with the queue of its requests. Also returns the displaced
    /// server, for the caller to [remove](Self::remove_server).
    pub(crate) fn add_server(
        &self,
        name: &str,
        make: impl FnOnce(Arc<RequestQueue>) -> Arc<ServerCore>,
    ) -> Result<(Arc<ServerCore>, Option<Arc<ServerCore>>), CreateError> {
        let (server, opened) = self.enter(name, |requests| {
            let server = make(requests.clone());
            requests.open(&server).map(|opened| (server, opened))
        })?;
        self.session.graph_changed();
        let Opened { refused, strangers, displaced, .. } = opened;
        strangers.iter().for_each(|(_, reason)| warn(&server.node, name, "server", reason));
        refused.into_iter().for_each(RefusedRequest::give_back);
        Ok((server, displaced))
    }

    pub(crate) fn remove_server(&self, server: &ServerCore) {
        server.requests.close(server);
        self.leave(&server.requests.name, |_| ());
        self.session.graph_changed();
    }

    /// Returns the types of the servers and clients of a node.
    pub(crate) fn types_of(&self, node: &Arc<str>) -> Vec<ServiceTypes> {
        self.names.lock().values().flat_map(|requests| requests.types_of(node)).collect()
    }

    fn queues(&self) -> Vec<Arc<RequestQueue>> {
        self.names.lock().values().cloned().collect()
    }

    /// Returns the clients with one of these numbers, of services that never had a server.
    pub(crate) fn unserved(&self, numbers: &Range<u64>) -> Vec<OneSided> {
        let clients: Vec<_> = self.queues().iter().flat_map(|requests| requests.unserved()).collect();
        let new = clients.iter().filter(|calls| numbers.contains(&calls.number));
        let one_sided = |calls: &Arc<PendingCalls>| OneSided {
            node: calls.node.clone(),
            name: calls.service.clone(),
            type_name: calls.types.published().0,
        };
        new.map(one_sided).collect()
    }

    /// Returns the services of these types that have a server, here or elsewhere.
    pub(crate) fn served(&self, types: &BTreeSet<String>) -> Vec<Offered> {
        let offered = |requests: &Arc<RequestQueue>| {
            let (type_name, node) = requests.server()?;
            let is_wanted = types.contains(&type_name);
            is_wanted.then(|| Offered { name: requests.name.clone(), type_name, node })
        };
        self.queues().iter().filter_map(offered).take(MOST).collect()
    }

    /// Appends the wanted servers and clients of this context.
    pub(crate) fn list(&self, wanted: &Wanted<'_>, into: &mut Vec<EndpointInfo>) {
        let queues = match wanted.name {
            Some(name) => self.names.lock().get(name).cloned().into_iter().collect(),
            None => self.queues(),
        };
        queues.iter().for_each(|requests| requests.list(wanted, into));
    }

    /// Returns the nodes of this context that have an endpoint of a service, with the services.
    pub(crate) fn users(&self) -> Vec<Used> {
        let of = |requests: &Arc<RequestQueue>| {
            let name = requests.name.clone();
            let used = move |(node, type_name)| Used { node, name: name.clone(), type_name };
            requests.users().into_iter().map(used)
        };
        self.queues().iter().flat_map(of).take(MOST).collect()
    }

    /// Adds a server of another process and forwards the waiting requests to it.
    pub(crate) fn add_remote(&self, name: &str, server: Arc<dyn RemoteServer>) {
        let (requests, waiting, strangers) = self.enter(name, |requests| {
            let (waiting, strangers) = requests.add_remote(&server);
            (requests.clone(), waiting, strangers)
        });
        strangers.iter().for_each(|(node, reason)| warn(node, name, "client", reason));
        for request in waiting {
            if let Err(refused) = requests.forward(request, &server, false) {
                refused.give_back();
            }
        }
    }

    /// Removes a server of another process. Callers that wait for its answers are notified.
    pub(crate) fn remove_remote(&self, name: &str, server: &Arc<dyn RemoteServer>) {
        let clients = self.leave(name, |requests| {
            requests.remove_remote(server);
            requests.clients()
        });
        clients.iter().flatten().for_each(|calls| calls.lose(server));
    }

    /// Fails all waiting calls, because the context ends.
    pub(crate) fn end(&self) {
        let all = self.queues();
        all.iter().for_each(|requests| requests.end());
        all.iter().flat_map(|requests| requests.clients()).for_each(|calls| calls.end());
    }
}

fn warn(node: &str, service: &str, end: &str, reason: &str) {
    let about = About { node, subject: service };
    log_line!(Level::Warn; about, "{end} of service {service}: {reason}");
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::failure::CallFailure;
    use super::super::pending_calls::{
        CallId, PendingCalls, RemoteServer, RemoteServerConnection, RemoteWait,
    };
    use crate::message::block::RawMessage;
    use crate::message::info::Publication;
    use crate::ros::qos::QoS;
    use crate::sys::clock::Time;
    use crate::sys::sync::{Arc, AtomicUsize, Mutex, Ordering};
    use crate::topic::remote_endpoint::RemoteEndpoint;
    use crate::{Context, Service, Unique};
    use sinew_msg::Message;
    use sinew_shm::EndpointKey;
    use std::any::Any;
    use std::time::Duration;

    #[derive(Clone, Debug, Default, PartialEq, Message)]
    struct Number {
        value: u64,
    }
    struct Numbers;
    impl Service for Numbers {
        type Request = Number;
        type Response = Number;
    }

    /// A value that is dropped when a server elsewhere is asked for its description.
    type Going = Option<Box<dyn Any + Send>>;

    /// A server elsewhere that counts its lines and their requests.
    struct FarServer {
        described: RemoteEndpoint,
        counts: Arc<Counts>,
        /// Dropped when the second request is about to be sent.
        goes: Mutex<Going>,
    }

    #[derive(Default)]
    struct Counts {
        opened: AtomicUsize,
        requests: AtomicUsize,
    }

    impl RemoteServer for FarServer {
        fn failure(&self) -> CallFailure {
            CallFailure::ServerGone
        }

        fn described(&self) -> &RemoteEndpoint {
            &self.described
        }

        fn is_there(&self) -> bool {
            if self.counts.requests.load(Ordering::Relaxed) == 1 {
                let goes = self.goes.lock().take();
                drop(goes);
            }
            true
        }

        fn connect(&self, _calls: &Arc<PendingCalls>) -> Result<Arc<dyn RemoteServerConnection>, String> {
            self.counts.opened.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(FarLine(self.counts.clone())))
        }
    }

    struct FarLine(Arc<Counts>);

    impl RemoteServerConnection for FarLine {
        fn key(&self) -> EndpointKey {
            unreachable!("no thread waits for an answer, and no server goes")
        }

        fn send(
            &self,
            _calls: &PendingCalls,
            _call: (CallId, &RawMessage, &Publication),
            _quietly: bool,
        ) -> Result<(), CallFailure> {
            self.0.requests.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn wait(&self, _: &PendingCalls, _: CallId, _: Time, _: Duration) -> RemoteWait {
            RemoteWait::Unable
        }

        fn retune(&self) {}

        fn end(&self, _failure: Option<CallFailure>) {
            self.0.opened.fetch_sub(1, Ordering::Relaxed);
        }

        fn notify_elsewhere(&self, notifications: crate::mailbox::waiters::Notifications) {
            notifications.into_iter().for_each(|notify| notify());
        }
    }

    /// A server appears elsewhere after two calls have waited for it. While their requests are
    /// forwarded, the client of the second is dropped.
    #[test]
    fn no_line_is_opened_for_a_client_that_has_gone() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("node").unwrap();
        let stays = node.client::<Numbers>("n").create().unwrap();
        let goes = node.client::<Numbers>("n").create().unwrap();
        let awaited = stays.call_async(Number { value: 1 });
        let given_up = goes.call_async(Number { value: 2 });
        let services = &context.shared().services;
        let (name, hash, travels) = services.names.lock()["/n"].clients()[0].types.published();
        let described = RemoteEndpoint {
            topic: "/n".to_owned(),
            node: "/far".to_owned(),
            process: "elsewhere".to_owned(),
            type_name: name,
            hash,
            travels,
            qos: QoS::services(),
            origin: crate::ros::origin::Origin::Local,
            number: 1,
            domain: None,
        };
        let counts = Arc::new(Counts::default());
        let goes = Mutex::new(Some(Box::new((goes, given_up)) as Box<dyn Any + Send>));
        services.add_remote("/n", Arc::new(FarServer { described, counts: counts.clone(), goes }));
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        assert_eq!((count(&counts.requests), count(&counts.opened)), (1, 1));
        assert!(stays.is_server_ready(), "it is there still");
        drop((awaited, stays));
        assert_eq!(count(&counts.opened), 0, "the line goes with its client");
    }

    #[test]
    fn a_name_goes_with_its_last_end() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("node").unwrap();
        let names = || context.shared().services.names.lock().len();
        for _ in 0..3 {
            let client = node.client::<Numbers>("n").create().unwrap();
            let another = node.client::<Numbers>("n").create().unwrap();
            let call = client.call_async(Number::default());
            drop(client);
            let server = node.server::<Numbers>("n").callback(|n: Unique<Number>| n).unwrap();
            assert_eq!(names(), 1);
            drop(another);
            drop(server);
            assert_eq!(names(), 1, "the call keeps its client");
            drop(call);
            assert_eq!(names(), 0);
        }
    }
}
