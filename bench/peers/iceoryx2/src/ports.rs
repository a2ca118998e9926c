//! Topics: a service for messages, of slices of words, and where receivers sleep, one for events
//! beside it.

use std::time::Duration;

use anyhow::Context as _;
use harness::{Process, Result, now_ns};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::{BackpressureAction, BackpressureInfo};
use iceoryx2::prelude::{Node, ipc};
use iceoryx2::sample::Sample;
use iceoryx2::service::port_factory::event::PortFactory as Events;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory as Messages;
use sinew_bench::clock::nanoseconds;
use sinew_bench::process::PATIENCE;

/// Polls between two looks at whether the other process still lives: some tens of milliseconds.
const POLLS: u32 = 1 << 20;

/// How long a listener sleeps before it looks whether the other process still lives.
const TICK: Duration = Duration::from_millis(500);

/// A received message.
pub type Words = Sample<ipc::Service, [u64], ()>;

/// A topic and what it is made for.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// How many subscribers there will be.
    pub subscribers: usize,
    /// How many messages may wait at each of them.
    pub waiting: usize,
    /// Whether a sender waits while that many do; otherwise the newest replaces the oldest.
    pub lossless: bool,
    /// Whether subscribers sleep until there is a message.
    pub sleeping: bool,
}

impl Topic {
    /// As iceoryx2's own benchmark of publish-subscribe makes it.
    pub fn new(name: &str, sleeping: bool) -> Self {
        Self { name: name.to_owned(), subscribers: 1, waiting: 1, lossless: false, sleeping }
    }

    fn messages(&self, node: &Node<ipc::Service>) -> Result<Messages<ipc::Service, [u64], ()>> {
        let service = node
            .service_builder(&self.name.as_str().try_into()?)
            .publish_subscribe::<[u64]>()
            .max_publishers(1)
            .max_subscribers(self.subscribers)
            .history_size(0)
            .subscriber_max_buffer_size(self.waiting)
            .enable_safe_overflow(!self.lossless);
        service.open_or_create().with_context(|| format!("the service {} can't be made", self.name))
    }

    /// What sends messages of up to so many words.
    pub fn output(&self, node: &Node<ipc::Service>, words: usize) -> Result<Output> {
        let service = self.messages(node)?;
        let publisher = service.publisher_builder().initial_max_slice_len(words);
        let publisher = match self.lossless {
            false => publisher.create()?,
            // Its own way to wait while there is no room, but not for ever when the receiver is
            // gone.
            true => publisher.set_backpressure_handler(patiently).create()?,
        };
        let bell = self.sleeping.then(|| bell(node, &self.name)).transpose()?;
        Ok(Output { publisher, bell })
    }

    /// What receives them.
    pub fn input(&self, node: &Node<ipc::Service>) -> Result<Input> {
        let subscriber = self.messages(node)?.subscriber_builder().create()?;
        let listener = self.sleeping.then(|| listener(node, &self.name)).transpose()?;
        Ok(Input { subscriber, listener })
    }
}

/// What a sender does that finds no room.
fn patiently(info: &BackpressureInfo) -> BackpressureAction {
    if info.elapsed_time < PATIENCE {
        BackpressureAction::Retry
    } else {
        BackpressureAction::DiscardDataAndFail
    }
}

/// The service for events beside a service for messages.
fn events(node: &Node<ipc::Service>, name: &str) -> Result<Events<ipc::Service>> {
    let service = node.service_builder(&name.try_into()?).event();
    service.open_or_create().with_context(|| format!("the events of {name} can't be made"))
}

/// What wakes the listener of that name.
pub fn bell(node: &Node<ipc::Service>, name: &str) -> Result<Notifier<ipc::Service>> {
    Ok(events(node, name)?.notifier_builder().create()?)
}

/// A listener of that name.
pub fn listener(node: &Node<ipc::Service>, name: &str) -> Result<Listener<ipc::Service>> {
    Ok(events(node, name)?.listener_builder().create()?)
}

/// A publisher, with what wakes its subscriber.
pub struct Output {
    publisher: Publisher<ipc::Service, [u64], ()>,
    bell: Option<Notifier<ipc::Service>>,
}

impl Output {
    /// Sends a message of so many words, written by `write` where they lie.
    pub fn send(&self, words: usize, write: impl FnOnce(&mut [u64])) -> Result<()> {
        let sample = self.publisher.loan_slice_uninit(words)?;
        // SAFETY: a publisher's samples lie in shared memory, whose bytes the kernel has set, and
        // every bit pattern is a u64.
        let mut sample = unsafe { sample.assume_init() };
        write(sample.payload_mut());
        sample.send()?;
        if let Some(bell) = &self.bell {
            bell.notify()?;
        }
        Ok(())
    }
}

/// A subscriber, with what it sleeps on.
pub struct Input {
    /// What receives.
    pub subscriber: Subscriber<ipc::Service, [u64], ()>,
    /// What it sleeps on; it polls without one.
    pub listener: Option<Listener<ipc::Service>>,
}

impl Input {
    /// The next message; `None` once `goes_on` says so, which is asked now and then.
    pub fn next(&self, goes_on: impl FnMut() -> Result<bool>) -> Result<Option<Words>> {
        wait_for(self.listener.as_ref(), || Ok(self.subscriber.receive()?), goes_on)
    }
}

/// Polls, or sleeps between two polls, until there is something or `goes_on`, which is asked now
/// and then, says no.
pub fn wait_for<T>(
    listener: Option<&Listener<ipc::Service>>,
    mut poll: impl FnMut() -> Result<Option<T>>,
    mut goes_on: impl FnMut() -> Result<bool>,
) -> Result<Option<T>> {
    loop {
        match listener {
            None => {
                for _ in 0..POLLS {
                    if let Some(found) = poll()? {
                        return Ok(Some(found));
                    }
                    std::hint::spin_loop();
                }
            }
            Some(listener) => {
                if let Some(found) = poll()? {
                    return Ok(Some(found));
                }
                listener.timed_wait(|_| (), TICK)?;
                if let Some(found) = poll()? {
                    return Ok(Some(found));
                }
            }
        }
        if !goes_on()? {
            return Ok(None);
        }
    }
}

/// For the side that measures: goes on for as long as the other process lives and answers within 30
/// s.
pub fn while_alive(other: &mut Process) -> impl FnMut() -> Result<bool> + '_ {
    let mut until = None; // the clock isn't read for answers that come soon
    move || {
        other.check()?;
        let until = *until.get_or_insert_with(|| now_ns() + nanoseconds(PATIENCE));
        anyhow::ensure!(now_ns() < until, "no answer came within {} s", PATIENCE.as_secs());
        Ok(true)
    }
}
