//! The services of a context by name, with their server and their clients.
//!
//! Everything here happens when an end is created or destroyed, or when everything ends; a call
//! never comes here.

use super::pending_calls::{PendingCalls, RemoteServer};
use super::request_queue::{RequestQueue, ServerCore, mismatch, mismatch_remote, serves};
use crate::ros::failure::CreateError;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, Mutex};
use crate::topic::session::Session;
use slab::Slab;
use std::collections::HashMap;

/// The services of a context.
pub(crate) struct ServiceRegistry {
    session: Arc<Session>,
    names: Mutex<HashMap<Arc<str>, ServiceEntry>>,
}

struct ServiceEntry {
    requests: Arc<RequestQueue>,
    /// The node of the server, if there is one.
    server: Option<Arc<str>>,
    clients: Slab<Arc<PendingCalls>>,
}

impl ServiceRegistry {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: session.clone(), names: Mutex::default() }
    }

    fn entry<'a>(&self, names: &'a mut HashMap<Arc<str>, ServiceEntry>, name: &str) -> &'a mut ServiceEntry {
        if !names.contains_key(name) {
            let name: Arc<str> = name.into();
            let requests = RequestQueue::new(name.clone(), self.session.clone());
            names.insert(name, ServiceEntry { requests, server: None, clients: Slab::new() });
        }
        #[expect(clippy::expect_used, reason = "it has just been put in")]
        names.get_mut(name).expect("the name is there")
    }

    /// Brings a client in; returns its place, and the queue for its requests.
    pub(crate) fn add_client(&self, calls: &Arc<PendingCalls>) -> (usize, Arc<RequestQueue>) {
        let name = &*calls.service;
        let (place, requests) = {
            let mut names = self.names.lock();
            let entry = self.entry(&mut names, name);
            let place = entry.clients.insert(calls.clone());
            entry.count();
            (place, entry.requests.clone())
        };
        if let Some(reason) = requests.mismatch(&calls.types) {
            let about = About { node: &calls.node, subject: name };
            tell!(Level::Warn; about, "client of service {name}: {reason}");
        }
        (place, requests)
    }

    pub(crate) fn remove_client(&self, name: &str, place: usize) {
        let gone = self.remove(name, |entry| entry.clients.try_remove(place));
        drop(gone); // outside the lock
    }

    /// Brings a server in, which is made for the queue of its requests.
    pub(crate) fn add_server(
        &self,
        name: &str,
        make: impl FnOnce(Arc<RequestQueue>) -> Arc<ServerCore>,
    ) -> Result<Arc<ServerCore>, CreateError> {
        let (server, strangers) = {
            let mut names = self.names.lock();
            let entry = self.entry(&mut names, name);
            if let Some(node) = &entry.server {
                let (service, node) = (name.to_owned(), node.as_ref().to_owned());
                return Err(CreateError::ServiceTaken { service, node });
            }
            let server = make(entry.requests.clone());
            entry.server = Some(server.node.clone());
            let others = entry.clients.iter().filter(|(_, calls)| !calls.types.agree(&server.types));
            let strangers: Vec<_> = others.map(|(_, calls)| mismatch(name, &server, &calls.types)).collect();
            (server, strangers)
        };
        for stranger in strangers {
            let about = About { node: &server.node, subject: name };
            tell!(Level::Warn; about, "server of service {name}: {stranger}");
        }
        server.requests.open(&server);
        self.count(name);
        Ok(server)
    }

    pub(crate) fn remove_server(&self, name: &str) {
        let gone = self.remove(name, |entry| entry.server.take());
        drop(gone); // outside the lock
    }

    /// Takes something out of an entry, and the entry if nothing is left in it.
    fn remove<T>(
        &self,
        name: &str,
        take: impl FnOnce(&mut ServiceEntry) -> T,
    ) -> Option<(T, Option<ServiceEntry>)> {
        let mut names = self.names.lock();
        let entry = names.get_mut(name)?;
        let gone = take(entry);
        entry.count();
        let unused =
            entry.server.is_none() && entry.clients.is_empty() && !entry.requests.is_served_remotely();
        let entry = if unused { names.remove(name) } else { None };
        Some((gone, entry))
    }

    /// A server of another process came.
    pub(crate) fn add_remote(&self, name: &str, server: Arc<dyn RemoteServer>) {
        let (requests, strangers) = {
            let mut names = self.names.lock();
            let entry = self.entry(&mut names, name);
            let others = entry.clients.iter().filter(|(_, calls)| !serves(&*server, &calls.types));
            let strange = |(_, calls): (_, &Arc<PendingCalls>)| {
                (calls.node.clone(), mismatch_remote(name, &*server, &calls.types))
            };
            (entry.requests.clone(), others.map(strange).collect::<Vec<_>>())
        };
        for (node, stranger) in strangers {
            let about = About { node: &node, subject: name };
            tell!(Level::Warn; about, "client of service {name}: {stranger}");
        }
        requests.add_remote(server);
        self.count(name);
    }

    /// Ends came or went: what others see of those of this name.
    pub(crate) fn count(&self, name: &str) {
        if let Some(entry) = self.names.lock().get(name) {
            entry.count();
        }
    }

    /// A server of another process is gone: callers that wait for its answers are told.
    pub(crate) fn remove_remote(&self, name: &str, server: &Arc<dyn RemoteServer>) {
        let mut clients: Vec<Arc<PendingCalls>> = Vec::new();
        let gone = self.remove(name, |entry| {
            clients.extend(entry.clients.iter().map(|(_, calls)| calls.clone()));
            entry.requests.remove_remote(server);
        });
        clients.iter().for_each(|calls| calls.lose(server));
        drop(gone); // outside the lock
    }

    /// Everything ends: all calls fail that wait.
    pub(crate) fn end(&self) {
        let mut queues = Vec::new();
        let mut clients = Vec::new();
        for entry in self.names.lock().values() {
            queues.push(entry.requests.clone());
            clients.extend(entry.clients.iter().map(|(_, calls)| calls.clone()));
        }
        queues.iter().for_each(|requests| requests.end());
        clients.iter().for_each(|calls| calls.end());
    }
}

impl ServiceEntry {
    /// Tells others how many ends match.
    fn count(&self) {
        let here = |calls: &Arc<PendingCalls>| self.requests.is_served_here(&calls.types);
        self.requests.set_clients(self.clients.iter().filter(|(_, calls)| here(calls)).count());
        self.clients.iter().for_each(|(_, calls)| calls.count_matched(self.requests.servers(&calls.types)));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Context, Message, Service, Unique};

    struct Number(#[expect(dead_code, reason = "only passed on")] u64);
    impl Message for Number {}
    struct Numbers;
    impl Service for Numbers {
        type Request = Number;
        type Response = Number;
    }

    #[test]
    fn a_name_goes_with_its_last_end() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("node").unwrap();
        let names = || context.shared().services.names.lock().len();
        for _ in 0..3 {
            let client = node.client::<Numbers>("n").create().unwrap();
            let another = node.client::<Numbers>("n").create().unwrap();
            let call = client.call_async(Number(1));
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
