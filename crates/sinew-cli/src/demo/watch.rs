//! The node that views frames, and the controls of the filter: with the filter in this process or
//! in another one.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use sinew::error::{CallError, CallFailure};
use sinew::event::Matched;
use sinew::msg::Sample;
use sinew::{Client, Context, Executor, MessageInfo, Service, Unique};
use sinew_interfaces::sensor_msgs::msg::Image;

use super::controls::{ControlSources, Controls, Panel};
use super::making;
use super::save::Saver;
use super::screen::{self, Screen};
use super::settings::Settings;
use super::viewer::{Ask, Viewer, ViewerCounts};
use crate::cli::DemoOptions;
use crate::error::Error;
use crate::terminal::{self, Terminal};
use sinew_bench::run::Collected;

/// Longest wait of the panel for the filter, which answers after it has drawn the frames that came
/// before.
const PATIENCE: Duration = Duration::from_secs(5);

/// Duration of a run without a terminal, where Ctrl-C can't be pressed.
pub(super) const UNATTENDED: Duration = Duration::from_secs(3);

/// The terminal to draw on, and the saver of frames.
pub(super) type Means = (Option<Terminal>, Option<Saver>);

/// Runs a demonstration, and prints the summary at the end.
pub(super) fn tell(
    options: &DemoOptions,
    show: impl FnOnce(Means) -> Result<Collected<ViewerCounts>, Error>,
) -> Result<(), Error> {
    let saver = options.save.as_deref().map(Saver::start).transpose()?;
    let terminal = Terminal::take()?;
    let seen = show((terminal, saver))?;
    seen.with(|seen| {
        // First, even after an error: no file may be left incomplete.
        let saved = seen.saver.take().map(Saver::finish);
        if let Some(error) = seen.failure.take() {
            return Err(error);
        }
        writeln!(io::stdout(), "in all {}", screen::line(&seen.summary())).map_err(Error::Output)?;
        let (Some(saved), Some(directory)) = (saved, &options.save) else { return Ok(()) };
        writeln!(io::stdout(), "{} frames saved in {}", saved?, directory.display()).map_err(Error::Output)
    })
}

/// Runs the node that views frames, and the controls of the filter. Returns when the run is over,
/// or when no more frames come; the terminal is given back then, even if other handles of the node
/// remain.
pub(super) fn watch(
    options: &DemoOptions,
    (terminal, saver): Means,
    (context, executor): (&Context, &Executor),
    underway: Ask,
    change: impl FnMut(Settings) -> Result<Settings, String> + Send + 'static,
) -> Result<Collected<ViewerCounts>, Error> {
    let stop = executor.stop_handle();
    terminal::stop_on_signal(move || stop.stop(), terminal.as_ref())?;
    let seen = Collected::new(ViewerCounts::new(underway, saver));
    let panel = Collected::new(Panel::default());
    let sources = ControlSources {
        keys: terminal.as_ref().is_some_and(Terminal::has_keys),
        automatic: options.settings,
        tells: terminal.is_none(),
    };
    let viewer = context.node("viewer")?;
    let screen = Screen::new(terminal.as_ref(), panel.clone());
    let group = viewer.group(Viewer::new(screen, seen.clone(), executor.stop_handle()));
    let gone = |viewer: &mut Viewer, publishers: &Matched| {
        if publishers.current == 0 {
            viewer.end();
        }
    };
    let viewing = group.subscription::<Image>(making::EDGES).on_matched(gone);
    let _viewing = viewing.callback(|viewer: &mut Viewer, frame: Sample<Image>, info: &MessageInfo| {
        viewer.view(&frame, info)
    })?;

    let stop = executor.stop_handle();
    let time = options.seconds.or((!io::stdout().is_terminal()).then_some(UNATTENDED));
    let _end = time.map(|time| viewer.timer(time).callback(move || stop.stop())).transpose()?;
    let mut controls = Controls::start(sources, panel, executor.stop_handle(), change)?;
    let outcome = executor.spin();
    controls.end();
    context.shutdown(); // so that no call is waited for
    drop(controls);
    let asked = seen.with(ViewerCounts::settle);
    drop(asked);
    outcome?;
    Ok(seen)
}

/// Requests other settings. Returns the accepted ones, or the reason for a refusal.
pub(super) fn ask<S: Service>(
    filter: &Client<S>,
    settings: S::Request,
) -> Result<Unique<S::Response>, String> {
    filter.call(settings, PATIENCE).map_err(|error: CallError<S::Request>| match error.failure() {
        CallFailure::Failed { message } => message.clone(), // the filter's own words
        _ => error.to_string(),
    })
}
