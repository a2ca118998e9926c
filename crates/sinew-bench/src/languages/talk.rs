//! The roles of `python.rs` in Rust: texts, calls and images between two processes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::executor::FaultPolicy;
use sinew::{Context, Executor, Node, Publisher, QoS, Subscription, View};
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use sinew_interfaces::std_msgs::msg::String as Text;

use super::program::{CHUNK, Measured};
use crate::process::PATIENCE;
use crate::{
    Collected, Error, Measuring, Samples, Work, found, machine, matched, nanoseconds, now_ns, sleep_until,
};

/// The part of a process, as in `languages/python/with_sinew.py`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Role {
    /// Sends a text, and polls for the answer.
    PingSpin,
    /// Polls, and answers.
    PongSpin,
    /// Sends a text, and sleeps until a callback gets the answer.
    PingSleep,
    /// Answers in a callback.
    PongSleep,
    /// Sends texts as fast as they are read.
    Send,
    /// Reads them in a callback.
    Receive,
    /// Calls a service.
    Call,
    /// Serves it.
    Serve,
    /// Publishes images at a rate.
    ImageOut,
    /// Views them in a callback.
    ImageIn,
}

/// Bytes of an image.
const IMAGE: usize = 10_000_000;

/// Time between two images in nanoseconds.
const IMAGE_PERIOD: i64 = 1_000_000_000 / 50;

/// Images that warm up.
const WARM_IMAGES: usize = 5;

/// Bytes of the time at which an image was filled, its first ones.
const STAMP: usize = 8;

/// A process in Rust.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RustTalk {
    pub(super) role: Role,
    pub(super) core: usize,
    /// The measuring time; without one the process plays its role until it is ended.
    pub(super) time: Option<Duration>,
}

/// Time after which the side that begins says hello again.
const BETWEEN_HELLOS: Duration = Duration::from_millis(20);

fn text(number: u32) -> Text {
    Text { data: format!("{number:064}") }
}

fn lossless() -> QoS {
    QoS::default().reliable().keep_all().max_blocking_time(PATIENCE)
}

fn next_of(subscription: &Subscription<Text>) -> Text {
    loop {
        if let Some((text, _)) = subscription.take() {
            return Text::clone(&text);
        }
    }
}

/// The clock at the end of the measuring time.
fn end_of(time: Option<Duration>) -> i64 {
    time.map_or(i64::MAX, |time| now_ns() + nanoseconds(time))
}

impl Work for RustTalk {
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        machine::pin_to(self.core)?;
        let context = Context::new()?;
        let node = context.node("talk")?;
        match self.role {
            Role::PingSpin | Role::PongSpin => self.spin(&node, measuring),
            Role::PingSleep => self.ping(&context, &node, measuring),
            Role::PongSleep => {
                let publisher = node.publisher::<Text>("back").create()?;
                let back = move |text: &Text| publisher.publish(text.clone());
                let _there = node.subscription::<Text>("there").callback(back)?;
                self.serve(&context, measuring)
            }
            Role::Send => self.send(&node, measuring),
            Role::Receive => self.receive(&context, &node, measuring),
            Role::Call => self.call(&node, measuring),
            Role::Serve => {
                let add = |request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b };
                let _server = node.server::<AddTwoInts>("add").callback(add)?;
                self.serve(&context, measuring)
            }
            Role::ImageOut => self.image_out(&node, measuring),
            Role::ImageIn => self.image_in(&context, &node, measuring),
        }
    }
}

impl RustTalk {
    fn executor(context: &Context) -> sinew::Result<Executor> {
        let executor = Executor::builder().on_error(FaultPolicy::Stop).build()?;
        executor.add(context)?;
        Ok(executor)
    }

    /// Runs callbacks until this process is ended.
    fn serve(&self, context: &Context, measuring: Measuring) -> Result<(), Error> {
        let executor = Self::executor(context)?;
        measuring.tell(&())?;
        Ok(executor.spin()?)
    }

    fn spin(&self, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let (out, back) = if self.role == Role::PingSpin { ("there", "back") } else { ("back", "there") };
        let publisher = node.publisher::<Text>(out).create()?;
        let subscription = node.subscription::<Text>(back).create()?;
        let publish = |text| publisher.publish(text).map_err(sinew::Error::from);
        let Some(time) = self.time else {
            measuring.tell(&())?;
            loop {
                publish(next_of(&subscription))?;
            }
        };
        both_matched(&publisher, &subscription)?;
        let there_and_back = || {
            publish(text(0))?;
            next_of(&subscription);
            Ok::<_, Error>(())
        };
        measuring.tell(&Measured::repeating(time, there_and_back)?)
    }

    fn ping(&self, context: &Context, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let executor = Self::executor(context)?;
        let publisher = node.publisher::<Text>("there").create()?;
        // The number of answers that came, the time of the last text, and the round trips.
        let seen = Collected::new((0_u32, 0_i64, Samples::with_room_for(1 << 20)));
        let (next, stop, until) = (publisher.clone(), executor.stop_handle(), end_of(self.time));
        let (answered, (hello, is_heard)) = (seen.clone(), (text(1), Collected::new(false)));
        let (greeted, hears) = (hello.clone(), is_heard.clone());
        let subscription = node.subscription::<Text>("back").callback(move |text_back: &Text| {
            let now = now_ns();
            if *text_back == greeted {
                hears.with(|is_heard| *is_heard = true);
                return Ok(());
            }
            answered.with(|(count, began, samples)| {
                *count += 1;
                if *count > CHUNK {
                    samples.record(now - *began);
                }
                *began = now_ns();
            });
            if now > until {
                stop.stop();
                return Ok(());
            }
            next.publish(text(0))
        })?;
        both_matched(&publisher, &subscription)?;
        // The other side's publisher connects soon after it is known: until then there is no answer.
        while !is_heard.with(|is_heard| *is_heard) {
            publisher.publish(hello.clone()).map_err(sinew::Error::from)?;
            executor.spin_once(BETWEEN_HELLOS)?;
        }
        seen.with(|(_, began, _)| *began = now_ns());
        publisher.publish(text(0)).map_err(sinew::Error::from)?;
        executor.spin()?;
        let samples = seen.with(|(_, _, samples)| std::mem::take(samples));
        measuring.tell(&Measured { samples, ..Measured::default() })
    }

    fn send(&self, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let publisher = node.publisher::<Text>("texts").qos(lossless()).create()?;
        measuring.tell(&())?;
        matched(&publisher, 1)?;
        loop {
            for number in 0..CHUNK {
                publisher.publish(text(number)).map_err(sinew::Error::from)?;
            }
        }
    }

    fn receive(&self, context: &Context, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let executor = Self::executor(context)?;
        let texts: Vec<_> = (0..CHUNK).map(|number| text(number).data).collect();
        let (mut next, mut lost, mut began) = (0, 0_u64, None);
        let (stop, time) = (executor.stop_handle(), self.time);
        let mut until = None;
        let seen = Collected::new((Samples::with_room_for(1 << 20), 0));
        let received = seen.clone();
        let _texts = node.subscription::<Text>("texts").qos(lossless()).callback(move |text: &Text| {
            if text.data != texts[next] {
                let place = texts.iter().position(|known| *known == text.data).unwrap_or(next);
                lost += ((place + texts.len() - next) % texts.len()) as u64;
                next = place;
            }
            next = (next + 1) % texts.len();
            if next > 0 {
                return;
            }
            let now = now_ns();
            received.with(|(samples, missing)| {
                *missing = lost;
                if let Some(began) = began {
                    samples.record(now - began);
                }
            });
            if now > *until.get_or_insert_with(|| end_of(time)) {
                stop.stop();
            }
            began = Some(now);
        })?;
        executor.spin()?;
        let (samples, lost) = seen.with(std::mem::take);
        measuring.tell(&Measured { samples, lost, ..Measured::default() })
    }

    fn call(&self, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let client = node.client::<AddTwoInts>("add").create()?;
        found(&client)?;
        let mut samples = Samples::with_room_for(1 << 20);
        let mut until = i64::MAX;
        for number in 0.. {
            let began = now_ns();
            client.call(AddTwoIntsRequest { a: 20, b: 22 }, PATIENCE).map_err(sinew::Error::from)?;
            let now = now_ns();
            match number {
                0..CHUNK => until = end_of(self.time),
                _ => samples.record(now - began),
            }
            if now > until {
                break;
            }
        }
        measuring.tell(&Measured { samples, ..Measured::default() })
    }

    /// Has the times of publishing without those of filling.
    fn image_out(&self, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let publisher = node.publisher::<Image>("image").qos(QoS::default().keep_last(4)).create()?;
        match self.time {
            None => measuring.tell(&())?,
            Some(_) => matched(&publisher, 1)?,
        }
        let begun = Image { height: 1, width: 1, step: 1, encoding: "mono8".to_owned(), ..Image::default() };
        let source: Vec<u8> = (0..IMAGE).map(|at| at.to_le_bytes()[0]).collect();
        let (mut samples, until) = (Samples::with_room_for(1 << 14), end_of(self.time));
        let mut due = now_ns();
        for number in 0.. {
            sleep_until(due);
            due += IMAGE_PERIOD;
            let began = now_ns();
            let mut draft = publisher.draft(&begun, ImageLengths { data: IMAGE })?;
            let pixels = draft.parts().data;
            let fills = now_ns();
            pixels.copy_from_slice(&source);
            pixels[..STAMP].copy_from_slice(&now_ns().to_le_bytes());
            let filled = now_ns();
            publisher.publish(draft).map_err(sinew::Error::from)?;
            let ended = now_ns();
            if number >= WARM_IMAGES {
                samples.record(ended - began - (filled - fills));
            }
            if ended > until {
                break;
            }
        }
        measuring.tell(&Measured { samples, ..Measured::default() })
    }

    /// Has the times from a filled image to the callback.
    fn image_in(&self, context: &Context, node: &Node, measuring: Measuring) -> Result<(), Error> {
        let executor = Self::executor(context)?;
        let seen = Collected::new((0, Samples::with_room_for(1 << 14)));
        let (stop, time) = (executor.stop_handle(), self.time);
        let (mut until, arrived) = (None, seen.clone());
        let images = node.subscription::<Image>("image").qos(QoS::default().keep_last(4));
        let _images = images.callback(move |image: View<'_, Image>| {
            let now = now_ns();
            let stamp = image.data.first_chunk::<STAMP>().map_or(0, |stamp| i64::from_le_bytes(*stamp));
            arrived.with(|(count, samples)| {
                *count += 1;
                if *count > WARM_IMAGES {
                    samples.record(now - stamp);
                }
            });
            if now > *until.get_or_insert_with(|| end_of(time)) {
                stop.stop();
            }
        })?;
        if self.time.is_none() {
            measuring.tell(&())?;
        }
        executor.spin()?;
        let samples = seen.with(|(_, samples)| std::mem::take(samples));
        measuring.tell(&Measured { samples, ..Measured::default() })
    }
}

fn both_matched(publisher: &Publisher<Text>, subscription: &Subscription<Text>) -> Result<(), Error> {
    matched(publisher, 1)?;
    if subscription.wait_for_publishers(1, PATIENCE) {
        return Ok(());
    }
    let name = subscription.topic().to_owned();
    Err(Error::Unmatched { name, found: 0, wanted: 1, waited: PATIENCE })
}
