//! What runs callbacks.

use crate::failure::{Error, Result, SpinError};
use crate::library::{Functions, Handle, Status, front};
use crate::message::Message;
use crate::node::{Context, Group, Node, Owned, ReentrantGroup, nanoseconds};
use crate::subscription::Subscription;
use real::executor::FaultPolicy;
use std::os::fd::BorrowedFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;

/// What can be added to a runner.
pub(crate) trait Executable {
    fn add(&self, to: &dyn Adds) -> Status;
}

/// A runner to which something is added.
pub(crate) trait Adds {
    fn add_context(&self, context: Handle) -> Status;
    fn add_node(&self, node: Handle) -> Status;
    fn add_group(&self, group: Handle) -> Status;
}

impl Executable for Context {
    fn add(&self, to: &dyn Adds) -> Status {
        to.add_context(self.0.handle)
    }
}

impl Executable for Node {
    fn add(&self, to: &dyn Adds) -> Status {
        to.add_node(self.handle.handle)
    }
}

impl<S> Executable for Group<S> {
    fn add(&self, to: &dyn Adds) -> Status {
        to.add_group(self.place.group())
    }
}

impl Executable for ReentrantGroup {
    fn add(&self, to: &dyn Adds) -> Status {
        to.add_group(self.place.group())
    }
}

#[derive(Clone)]
pub(crate) struct StopHandle(Arc<Owned>);

impl StopHandle {
    pub(crate) fn stop(&self) {
        self.0.front.stop(self.0.handle);
    }
}

/// Options of both. No callback of C panics.
#[derive(Clone, Copy)]
pub(crate) struct RunnerBuilder {
    threads: usize,
    on_error: FaultPolicy,
}

impl RunnerBuilder {
    const NEW: Self = Self { threads: 1, on_error: FaultPolicy::Report };

    pub(crate) fn on_panic(self, _: FaultPolicy) -> Self {
        self
    }

    pub(crate) fn on_error(self, on_error: FaultPolicy) -> Self {
        Self { on_error, ..self }
    }

    /// As C has it.
    fn policy(self) -> i32 {
        match self.on_error {
            FaultPolicy::Stop => sinew_c::executor::SINEW_FAULT_STOP,
            _ => sinew_c::executor::SINEW_FAULT_REPORT,
        }
    }
}

pub(crate) struct ExecutorBuilder(RunnerBuilder);

impl ExecutorBuilder {
    pub(crate) fn threads(self, threads: usize) -> Self {
        Self(RunnerBuilder { threads, ..self.0 })
    }

    pub(crate) fn on_panic(self, policy: FaultPolicy) -> Self {
        Self(self.0.on_panic(policy))
    }

    pub(crate) fn on_error(self, policy: FaultPolicy) -> Self {
        Self(self.0.on_error(policy))
    }

    pub(crate) fn build(self) -> Result<Executor> {
        let front = front();
        Owned::make(front, Functions::executor_free, |executor| {
            front.executor_new(self.0.threads, self.0.policy(), executor)
        })
        .map(Executor)
    }
}

pub(crate) struct Executor(Arc<Owned>);

impl Adds for Executor {
    fn add_context(&self, context: Handle) -> Status {
        self.0.front.executor_add_context(self.0.handle, context)
    }

    fn add_node(&self, node: Handle) -> Status {
        self.0.front.executor_add_node(self.0.handle, node)
    }

    fn add_group(&self, group: Handle) -> Status {
        self.0.front.executor_add_group(self.0.handle, group)
    }
}

impl Executor {
    pub(crate) fn builder() -> ExecutorBuilder {
        ExecutorBuilder(RunnerBuilder::NEW)
    }

    pub(crate) fn single() -> Self {
        Self::builder().build().expect("one thread")
    }

    pub(crate) fn add(&self, what: &impl Executable) -> Result<()> {
        Error::check(self.0.front, what.add(self))
    }

    pub(crate) fn spin(&self) -> std::result::Result<(), SpinError> {
        SpinError::check(self.0.front, self.0.front.executor_spin(self.0.handle))
    }

    pub(crate) fn spin_some(&self) -> std::result::Result<(), SpinError> {
        SpinError::check(self.0.front, self.0.front.executor_spin_some(self.0.handle))
    }

    /// Returns nothing of interest: no scenario counts the callbacks.
    pub(crate) fn spin_all(&self, max: Duration) -> std::result::Result<u64, SpinError> {
        SpinError::check(self.0.front, self.0.front.executor_spin_all(self.0.handle, nanoseconds(max)))?;
        Ok(0)
    }

    pub(crate) fn advance(&self, duration: Duration) -> std::result::Result<u64, SpinError> {
        let status = self.0.front.executor_advance(self.0.handle, nanoseconds(duration));
        SpinError::check(self.0.front, status).map(|()| 0)
    }

    pub(crate) fn stop_handle(&self) -> StopHandle {
        let (front, executor) = (self.0.front, self.0.handle);
        let made =
            Owned::make(front, Functions::stop_free, |stop| front.executor_stop_handle(executor, stop));
        StopHandle(made.expect("a handle more"))
    }

    pub(crate) fn descriptor(&self) -> Result<BorrowedFd<'_>> {
        let mut descriptor = -1;
        Error::check(self.0.front, self.0.front.executor_descriptor(self.0.handle, &mut descriptor))?;
        // SAFETY: it is open as long as the executor.
        Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// As a program of C does it: what makes the future ready stops the spin.
    pub(crate) fn spin_until<F: Future>(&self, future: F) -> std::result::Result<F::Output, SpinError> {
        let mut future = pin!(future);
        let woken = Arc::new(Woken { stop: self.stop_handle(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(woken.clone());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Task::from_waker(&waker)) {
                return Ok(output);
            }
            self.spin()?;
            if !woken.is_woken.swap(false, Ordering::SeqCst) {
                return Err(SpinError::Stopped);
            }
        }
    }
}

struct Woken {
    stop: StopHandle,
    is_woken: AtomicBool,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        self.stop.stop();
    }
}

pub(crate) struct WaitSetBuilder(RunnerBuilder);

impl WaitSetBuilder {
    pub(crate) fn on_panic(self, policy: FaultPolicy) -> Self {
        Self(self.0.on_panic(policy))
    }

    pub(crate) fn on_error(self, policy: FaultPolicy) -> Self {
        Self(self.0.on_error(policy))
    }

    pub(crate) fn build(self) -> WaitSet {
        let front = front();
        let made = Owned::make(front, Functions::set_free, |set| front.set_new(self.0.policy(), set));
        WaitSet(made.expect("a wait set more"))
    }
}

pub(crate) struct WaitSet(Arc<Owned>);

impl Adds for WaitSet {
    fn add_context(&self, context: Handle) -> Status {
        self.0.front.set_add_context(self.0.handle, context)
    }

    fn add_node(&self, node: Handle) -> Status {
        self.0.front.set_add_node(self.0.handle, node)
    }

    fn add_group(&self, group: Handle) -> Status {
        self.0.front.set_add_group(self.0.handle, group)
    }
}

impl WaitSet {
    pub(crate) fn builder() -> WaitSetBuilder {
        WaitSetBuilder(RunnerBuilder::NEW)
    }

    pub(crate) fn new() -> Self {
        Self::builder().build()
    }

    pub(crate) fn add(&self, what: &impl Executable) -> Result<()> {
        Error::check(self.0.front, what.add(self))
    }

    pub(crate) fn add_subscription<T: Message>(&mut self, subscription: &Subscription<T>) -> Result<()> {
        let status = self.0.front.set_add_subscription(self.0.handle, subscription.handle.handle);
        Error::check(self.0.front, status)
    }

    pub(crate) fn wait(&mut self, timeout: Duration) -> std::result::Result<ReadySet<'_>, SpinError> {
        let mut count = 0;
        let status = self.0.front.set_wait(self.0.handle, nanoseconds(timeout), &mut count);
        SpinError::check(self.0.front, status)?;
        Ok(ReadySet { set: self, next: 0, count })
    }

    pub(crate) fn stop_handle(&self) -> StopHandle {
        let (front, set) = (self.0.front, self.0.handle);
        let made = Owned::make(front, Functions::stop_free, |stop| front.set_stop_handle(set, stop));
        StopHandle(made.expect("a handle more"))
    }
}

/// What a wait found.
pub(crate) struct ReadySet<'a> {
    set: &'a WaitSet,
    next: usize,
    count: usize,
}

impl<'a> Iterator for ReadySet<'a> {
    type Item = Ready<'a>;

    fn next(&mut self) -> Option<Ready<'a>> {
        let index = self.next;
        self.next += 1;
        (index < self.count).then_some(Ready { set: self.set, index })
    }
}

pub(crate) struct Ready<'a> {
    set: &'a WaitSet,
    index: usize,
}

impl Ready<'_> {
    pub(crate) fn run(&self) -> std::result::Result<(), SpinError> {
        let front = self.set.0.front;
        SpinError::check(front, front.set_run(self.set.0.handle, self.index))
    }

    pub(crate) fn is<T: Message>(&self, subscription: &Subscription<T>) -> bool {
        let handle = subscription.handle.handle;
        self.set.0.front.set_is_subscription(self.set.0.handle, self.index, handle)
    }
}
