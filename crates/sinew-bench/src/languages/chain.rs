//! The chain of ten relays, each a node, in one process with one executor of one thread.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Context, Node, Subscription, Unique};

use super::program::{Measured, Program, side};
use super::toolchain::{Language, Toolchain};
use crate::bar::Bar;
use crate::messages::Timing;
use crate::options::{ExecutorOptions, LanguagesOptions};
use crate::{
    Collected, Error, Figures, Ground, Measuring, Run, Samples, Sheet, Side, Work, executor, now_ns, source,
    ticks, warm_up,
};

const RELAYS: u32 = 10;

/// The message's header for C++, generated when this program was built.
const TIMING: (&str, &str) = (
    "sinew_bench_msgs/msg/timing.hpp",
    include_str!(concat!(env!("OUT_DIR"), "/cpp/sinew_bench_msgs/msg/timing.hpp")),
);

/// How Rust's relays take their messages.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
enum Form {
    /// They own them, and publish them as they are.
    Unique,
    /// They read them, and publish a copy.
    Reference,
}

/// The chain in Rust.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RustChain {
    form: Form,
    rate: f64,
    /// Number of messages, of which the first only warm up.
    messages: u64,
    warm_up: u64,
}

/// Measures it at each rate: first with messages that move, then with messages that are read.
pub(super) fn measure(
    options: &LanguagesOptions,
    toolchain: &Toolchain,
    ground: &Ground,
    sheet: &mut Sheet,
) -> Result<(), Error> {
    toolchain.add(TIMING.0, TIMING.1)?;
    let program = toolchain.compile(Language::Cpp, "chain.cpp", include_str!("../../languages/chain.cpp"))?;
    let moved = Bar::new("rust_ratio", 1.15);
    let read = Bar::new("over_rust_ns", 30.0);
    for &rate in &options.rate {
        let rust = |form, how: &str| {
            let settings = side("chain", "Rust", how).with("rate", rate);
            Side::sinew(settings, move |time| in_rust(form, rate, ground, time)).of_rust()
        };
        let cpp = |form: &'static str, bar| {
            let settings = side("chain", "C++", form).with("rate", rate);
            let program = &program;
            Side::sinew(settings, move |time| in_cpp(program, form, rate, ground, time)).with_bar(Some(bar))
        };
        let what = |how| format!("languages: chain, {how}, {rate} Hz");
        let moving = vec![rust(Form::Unique, "Unique<T>"), cpp("unique_ptr", moved)];
        sheet.measure(&what("messages that move"), moving)?;
        let reading = vec![rust(Form::Reference, "&T"), cpp("shared_ptr", read), cpp("const &", read)];
        sheet.measure(&what("messages that are read"), reading)?;
    }
    Ok(())
}

/// Measures a round of the chain in Rust.
fn in_rust(form: Form, rate: f64, ground: &Ground, time: Duration) -> Result<Figures, Error> {
    let messages = ticks(rate, time);
    let warm_up = warm_up(messages).into();
    let program = Program::Rust(RustChain { form, rate, messages: messages.into(), warm_up });
    round(&program, ground, time)
}

/// Measures a round of the chain in C++.
fn in_cpp(
    program: &PathBuf,
    form: &str,
    rate: f64,
    ground: &Ground,
    time: Duration,
) -> Result<Figures, Error> {
    let messages = ticks(rate, time);
    let numbers = [messages, warm_up(messages)].map(|number| number.to_string());
    let arguments = [form.to_owned(), rate.to_string()].into_iter().chain(numbers).collect();
    round(&Program::Compiled::<RustChain>(program, arguments), ground, time)
}

fn round(program: &Program<'_, RustChain>, ground: &Ground, time: Duration) -> Result<Figures, Error> {
    let measured = ground.round(|directory| program.measure(directory, time))?;
    Ok(measured.figures(RELAYS + 1))
}

impl Work for RustChain {
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        measuring.tell(&self.run(Context::new()?)?)
    }
}

impl RustChain {
    /// As `languages/chain.cpp` in C++.
    fn run(&self, context: Context) -> sinew::Result<Measured> {
        let run = Run::of(context, executor(ExecutorOptions::default()))?;
        let relays = (0..RELAYS).map(|hop| self.relay(&run.context.node(&format!("relay_{hop}"))?, hop));
        let _relays = relays.collect::<sinew::Result<Vec<_>>>()?;
        let room = usize::try_from(self.messages).unwrap_or(usize::MAX);
        let seen = Collected::new((Samples::with_room_for(room), 0));
        let (sink, stop, sunk) = (run.context.node("sink")?, run.executor.stop_handle(), seen.clone());
        let (messages, warm_up) = (self.messages, self.warm_up);
        let _sink =
            sink.subscription::<Timing>(&format!("hop_{RELAYS}")).callback(move |timing: &Timing| {
                let took = now_ns() - timing.stamp;
                sunk.with(|(samples, received)| {
                    *received += 1;
                    if timing.number > warm_up {
                        samples.record(took);
                    }
                });
                if timing.number == messages {
                    stop.stop();
                }
            })?;
        let first = run.context.node("source")?;
        let publisher = first.publisher::<Timing>("hop_0").create()?;
        let _timer = source(&first, &publisher, self.rate)?;
        run.executor.spin()?;
        let (samples, received) = seen.with(std::mem::take);
        let lost = messages.saturating_sub(received);
        Ok(Measured { samples, lost, ..Measured::default() })
    }

    fn relay(&self, node: &Node, hop: u32) -> sinew::Result<Subscription<Timing>> {
        let next = node.publisher::<Timing>(&format!("hop_{}", hop + 1)).create()?;
        let messages = node.subscription::<Timing>(&format!("hop_{hop}"));
        Ok(match self.form {
            Form::Unique => messages.callback(move |timing: Unique<Timing>| next.publish(timing))?,
            Form::Reference => messages.callback(move |timing: &Timing| next.publish(*timing))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_relay_every_message() {
        for form in [Form::Unique, Form::Reference] {
            let chain = RustChain { form, rate: 1000.0, messages: 20, warm_up: 2 };
            let context = Context::builder().shared_memory(false).build().unwrap();
            let measured = chain.run(context).unwrap();
            assert_eq!((measured.samples.recorded(), measured.lost), (18, 0), "{form:?}");
        }
    }
}
