//! Topics: a service for messages of slices of words and, if receivers sleep, one for events beside
//! it.

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

/// Number of polls between two checks for whether the other process is alive: some tens of
/// milliseconds.
const POLLS: u32 = 1 << 20;

/// Time that a listener sleeps between two checks for whether the other process is alive.
const TICK: Duration = Duration::from_millis(500);

/// A received message.
pub type Words = Sample<ipc::Service, [u64], ()>;

/// A topic and its properties.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Number of subscribers.
    pub subscribers: usize,
    /// Number of messages that may wait at each of them.
    pub waiting: usize,
    /// Whether a sender waits when that many do; otherwise the newest replaces the oldest.
    pub lossless: bool,
    /// Whether subscribers sleep until there is a message.
    pub sleeping: bool,
}

impl Topic {
    /// Makes a topic with the defaults of iceoryx2's own benchmark of publish-subscribe.
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

    /// Creates a sender of messages with up to `words` words.
    pub fn output(&self, node: &Node<ipc::Service>, words: usize) -> Result<Output> {
        let service = self.messages(node)?;
        let publisher = service.publisher_builder().initial_max_slice_len(words);
        let publisher = match self.lossless {
            false => publisher.create()?,
            // iceoryx2's own way to wait while there is no room, but not for ever if the receiver
            // is gone.
            true => publisher.set_backpressure_handler(patiently).create()?,
        };
        let bell = self.sleeping.then(|| bell(node, &self.name)).transpose()?;
        Ok(Output { publisher, bell })
    }

    /// Creates a receiver.
    pub fn input(&self, node: &Node<ipc::Service>) -> Result<Input> {
        let subscriber = self.messages(node)?.subscriber_builder().create()?;
        let listener = self.sleeping.then(|| listener(node, &self.name)).transpose()?;
        Ok(Input { subscriber, listener })
    }
}

/// Returns the action of a sender that finds no room.
fn patiently(info: &BackpressureInfo) -> BackpressureAction {
    if info.elapsed_time < PATIENCE {
        BackpressureAction::Retry
    } else {
        BackpressureAction::DiscardDataAndFail
    }
}

/// Creates the service for events beside a service for messages.
fn events(node: &Node<ipc::Service>, name: &str) -> Result<Events<ipc::Service>> {
    let service = node.service_builder(&name.try_into()?).event();
    service.open_or_create().with_context(|| format!("the events of {name} can't be made"))
}

/// Creates the notifier for the listener of that name.
pub fn bell(node: &Node<ipc::Service>, name: &str) -> Result<Notifier<ipc::Service>> {
    Ok(events(node, name)?.notifier_builder().create()?)
}

/// Creates the listener of that name.
pub fn listener(node: &Node<ipc::Service>, name: &str) -> Result<Listener<ipc::Service>> {
    Ok(events(node, name)?.listener_builder().create()?)
}

/// A publisher, with the notifier of its subscriber.
pub struct Output {
    publisher: Publisher<ipc::Service, [u64], ()>,
    bell: Option<Notifier<ipc::Service>>,
}

impl Output {
    /// Sends a message of `words` words, which `write` writes in place.
    pub fn send(&self, words: usize, write: impl FnOnce(&mut [u64])) -> Result<()> {
        let sample = self.publisher.loan_slice_uninit(words)?;
        // SAFETY: a publisher's samples lie in shared memory, which the kernel has initialised, and
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

/// A subscriber, with the listener on which it sleeps.
pub struct Input {
    /// Receives messages.
    pub subscriber: Subscriber<ipc::Service, [u64], ()>,
    /// It sleeps on this; without one, it polls.
    pub listener: Option<Listener<ipc::Service>>,
}

impl Input {
    /// Returns the next message; `None` once `goes_on`, which is called from time to time, returns
    /// `false`.
    pub fn next(&self, goes_on: impl FnMut() -> Result<bool>) -> Result<Option<Words>> {
        wait_for(self.listener.as_ref(), || Ok(self.subscriber.receive()?), goes_on)
    }
}

/// Polls, or sleeps between two polls, until there is something, or until `goes_on`, which is
/// called from time to time, returns `false`.
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

/// For the measuring side: goes on as long as the other process is alive and answers within 30 s.
pub fn while_alive(other: &mut Process) -> impl FnMut() -> Result<bool> + '_ {
    let mut until = None; // the clock isn't read for early answers
    move || {
        other.check()?;
        let until = *until.get_or_insert_with(|| now_ns() + nanoseconds(PATIENCE));
        anyhow::ensure!(now_ns() < until, "no answer came within {} s", PATIENCE.as_secs());
        Ok(true)
    }
}
