//! Servers of services of any type.

use super::service::{Request as TakenRequest, ServiceTypes};
use crate::api::context::ContextCore;
use crate::api::node::NodeCore;
use crate::executor::crew::scheduler::{Scheduler, TaskRef, ToSignal};
use crate::executor::group::GroupMember;
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::group_token::GroupToken;
use crate::executor::owner::Close;
use crate::executor::prefetch::{Footprint, Part};
use crate::executor::report;
use crate::executor::task::{CallbackResult, Run, TaskBase, TaskOutcome};
use crate::executor::wait_set::{self, Waitable};
use crate::executor::work::queue::WorkQueueCore;
use crate::mailbox::waiters::{Listener, OnNews};
use crate::message::block::RawMessage;
use crate::message::info::{ChainScope, Publication};
use crate::service::failure::CallFailure;
use crate::service::observed::ServiceEvent;
use crate::service::pending_calls::PendingCalls;
use crate::service::request::{ReplyTo, Request};
use crate::service::request_queue::RequestQueue;
use crate::service::request_queue::server_core::{self, RequestTaker, ServerCore};
use crate::service::statistics::ServerStatistics;
use crate::sys::clock::Stamp;
use crate::sys::logging::Level;
use crate::sys::panics::panic_message;
use crate::sys::sync::{Arc, AtomicBool, Ordering};
use sinew_shm::Callback;
use sinew_shm::transport::OwnEndpoint;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// An entity that answers the requests of a service of any type. Made by
/// [`Node::erased_server`](crate::Node::erased_server). The documentation of
/// [`Server<S>`](crate::Server), a shell over this type, holds here as well.
#[must_use = "a server ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _server = ..`), or `detach()` it"]
#[derive(Clone)]
pub struct Server {
    pub(in crate::api) inner: Arc<ServerInner>,
}

/// The part that is dropped with the last handle.
pub(in crate::api) struct ServerInner {
    pub(in crate::api) core: Arc<ServerCore>,
    /// Its membership in its group; `None` if it has an immediate callback or is
    /// pulled.
    pub(in crate::api) member: Option<(Arc<GroupCore>, Membership)>,
    /// Its futures in progress, if it answers asynchronously; its requests, if it is pulled.
    pub(in crate::api) tasks: Option<Arc<dyn Close>>,
    pub(in crate::api) is_closed: AtomicBool,
    pub(in crate::api) node: Arc<NodeCore>,
}

impl Server {
    pub(in crate::api) fn of(inner: ServerInner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Returns the types of its service.
    pub fn types(&self) -> ServiceTypes {
        ServiceTypes::from_inner(self.inner.core.types)
    }

    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        &self.inner.core.requests.name
    }

    /// Sets the queue that does the work for requests that the server answers later.
    pub(in crate::api) fn is_worked_by(&self, queue: &Arc<WorkQueueCore>) {
        let core = &self.inner.core;
        core.requests.is_worked_by(core, queue.clone());
    }

    /// As [`Server::set_listener`](crate::Server::set_listener).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.replace_listener(Some(Box::new(listener))).finish(0);
    }

    /// As [`Server::clear_listener`](crate::Server::clear_listener).
    pub fn clear_listener(&self) {
        self.replace_listener(None).finish(0);
    }

    /// Sets the listener, or none; the caller may hold a lock, and finishes under none.
    pub(in crate::api) fn replace_listener(&self, listener: Option<OnNews>) -> ReplacedListener<'_> {
        let core = &*self.inner.core;
        let entity = || format!("server of {} of node {}", core.requests.name, core.node);
        let now = listener.map(|listener| Listener::boxed(entity(), listener));
        let (waiting, before) = core.requests.replace_listener(core, now.clone());
        ReplacedListener { core, now, before, waiting }
    }

    /// Returns its counters.
    pub fn statistics(&self) -> ServerStatistics {
        self.inner.core.statistics()
    }

    /// Keeps it without a handle until the context ends; as
    /// [`Server::detach`](crate::Server::detach).
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }

    /// As [`Server::close`](crate::Server::close).
    pub fn close(self) {
        self.inner.leave(true);
    }

    /// As [`Server::is_closed`](crate::Server::is_closed).
    pub fn is_closed(&self) -> bool {
        !self.inner.core.requests.is_served_by(&self.inner.core)
    }
}

/// The change of a server's listener.
#[must_use = "the listener is notified by `finish`"]
pub(in crate::api) struct ReplacedListener<'a> {
    core: &'a ServerCore,
    now: Option<Arc<Listener>>,
    before: Option<Arc<Listener>>,
    /// Number of requests in the server's queue.
    waiting: u64,
}

impl ReplacedListener<'_> {
    /// Notifies the new listener of the requests that wait: those in the server's queue, and
    /// `taken` ones that left it and can be taken by hand. The caller holds no lock.
    pub(in crate::api) fn finish(self, taken: u64) {
        let Self { core, now, before, waiting } = self;
        drop(before);
        core.requests.retune();
        if let Some(listener) = now
            && waiting + taken > 0
        {
            listener.notify(waiting + taken);
        }
    }
}

impl wait_set::sealed::Sealed for Server {}

impl Waitable for Server {
    fn subject(&self) -> usize {
        Arc::as_ptr(&self.inner.core).addr()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl ServerInner {
    fn leave(&self, wait: bool) {
        // Relaxed: one of several threads continues, and locks protect everything else.
        if self.is_closed.swap(true, Ordering::Relaxed) {
            return; // it has left already: the service may have another server by now
        }
        if let Some((group, membership)) = &self.member {
            group.deregister(*membership, wait);
        }
        retire(&self.node.context, &self.core);
        if let Some(tasks) = &self.tasks {
            tasks.close();
        }
        self.core.pool.close();
    }
}

/// Keeps further requests, of this process and of others, from a server.
pub(in crate::api) fn retire(context: &ContextCore, core: &ServerCore) {
    let known = core.known.lock().take();
    if let (Some(known), Some(transport)) = (&known, context.transport()) {
        transport.forget_server(known.key());
    }
    context.services.remove_server(core);
    drop(known); // after its clients in other processes were notified
}

impl Drop for ServerInner {
    fn drop(&mut self) {
        self.leave(false);
    }
}

/// The one form of callback for requests of any type: it opens its own cell, and its group's state,
/// with the token.
pub(in crate::api) type ErasedCallback =
    Box<dyn Fn(&mut GroupToken, TakenRequest<'_>) -> CallbackResult + Send + Sync>;

/// Calls a server's callback with a request.
pub(in crate::api) trait Answers: Send + Sync + 'static {
    fn answer(&self, core: &Arc<ServerCore>, token: &mut GroupToken, asked: Asked<'_>) -> CallbackResult;
}

/// A request on its way into a callback.
pub(in crate::api) struct Asked<'a> {
    pub(in crate::api) message: RawMessage,
    pub(in crate::api) publication: Publication,
    /// Taken when the request is answered, or passed on.
    pub(in crate::api) reply_to: &'a mut Option<ReplyTo>,
}

impl Answers for ErasedCallback {
    fn answer(&self, core: &Arc<ServerCore>, token: &mut GroupToken, asked: Asked<'_>) -> CallbackResult {
        let Asked { message, publication, reply_to } = asked;
        let result = self(token, TakenRequest::new(message, publication, reply_to, core));
        if let Some(reply_to) = reply_to.take() {
            core.fail(reply_to, CallFailure::Dropped);
        }
        result
    }
}

/// Answers each request at once, on the thread that brings it. Boxed: most servers of a node are
/// such ones, those of its parameters among them, and one copy of the code does for all.
pub(in crate::api) fn immediate(answers: Box<dyn Answers>) -> Arc<RequestTaker> {
    RequestTaker::new(move |core, request| {
        let answered =
            answer(core, request, |asked| answers.answer(core, &mut GroupToken::reentrant(), asked));
        if let Err(error) = answered {
            let what = format!("the immediate callback of {}", describe(core));
            let level = if core.requests.session.has_ended() { Level::Info } else { Level::Error };
            report(level, &what, &format_args!("{what} failed: {error}"));
        }
    })
}

/// Returns the data of a server's task.
pub(in crate::api) fn task_base(group: &GroupCore, core: &Arc<ServerCore>) -> TaskBase {
    let key = core.known.lock().as_ref().map(OwnEndpoint::key);
    let queue: Arc<dyn Footprint> = core.requests.clone();
    TaskBase::new(group.node.clone(), format!("service {}", core.requests.name))
        .subject(core)
        .callback(key.map(Callback::Of))
        .uses(vec![
            Part::value(core, server_core::LINES),
            Part::value(&core.requests, 4),
            Part::Deep(Arc::downgrade(&queue)),
            Part::Code(code),
            Part::pool(&core.pool),
        ])
}

/// A server as its executor sees it: everything a call needs in one place.
pub(in crate::api) struct ServerTask<A> {
    pub(in crate::api) core: Arc<ServerCore>,
    pub(in crate::api) callback: A,
}

impl<A: Answers> Run for ServerTask<A> {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let core = &self.core;
        let Some((request, next)) = core.requests.take_for(core, token) else {
            return TaskOutcome::NOTHING;
        };
        let result = answer(core, request, |asked| self.callback.answer(core, token, asked));
        TaskOutcome { result, next, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        self.core.requests.pending(&self.core)
    }

    fn clear_ready(&self) -> bool {
        self.core.requests.clear_ready(&self.core, false)
    }
}

impl<A: Answers> GroupMember for ServerTask<A> {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.core.requests.attach(&self.core, task_ref)
    }

    fn attached(&self) {
        self.core.requests.retune();
    }
}

/// Runs a callback for a request. If it panics, the caller is notified before the panic goes on.
#[inline(always)]
fn answer(
    core: &Arc<ServerCore>,
    request: Request,
    callback: impl FnOnce(Asked<'_>) -> CallbackResult,
) -> CallbackResult {
    received(core, &request);
    let Request { message, publication, reply_to } = request;
    let _chain = ChainScope::enter(Some(publication.lineage));
    let mut reply_to = Some(reply_to);
    let open = &mut reply_to;
    let result = catch_unwind(AssertUnwindSafe(|| callback(Asked { message, publication, reply_to: open })));
    match result {
        Ok(result) => result,
        Err(panic) => panicked(core, reply_to, panic),
    }
}

/// Notifies the server's observer of a request that it has taken.
#[inline]
pub(in crate::api) fn received(core: &ServerCore, request: &Request) {
    let caller = || request.reply_to.caller(core.requests.session.participant);
    core.observed.notify(ServiceEvent::RequestReceived, caller, &request.message);
}

/// Notifies the caller of a callback's panic, and resumes the panic.
#[cold]
#[inline(never)]
fn panicked(core: &ServerCore, reply_to: Option<ReplyTo>, panic: Box<dyn Any + Send>) -> ! {
    if let Some(reply_to) = reply_to {
        core.fail(reply_to, CallFailure::Panicked { message: panic_message(&*panic) });
    }
    resume_unwind(panic)
}

/// The code that every call of a service executes.
fn code(name: &mut dyn FnMut(usize, usize)) {
    RequestQueue::code(name);
    name(PendingCalls::complete as *const () as usize, 7);
    name(TaskRef::run_as_caller as *const () as usize, 10);
    name(Scheduler::finish as *const () as usize, 5);
}

fn describe(core: &ServerCore) -> String {
    format!("service {} of node {}", core.requests.name, core.node)
}
