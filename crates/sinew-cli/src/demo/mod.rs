//! `sinew demo`: three nodes pass real pictures on, each frame in one place from the camera to the viewer.

mod controls;
mod edges;
mod filter;
mod frame;
mod preview;
mod save;
mod screen;
mod settings;
mod viewer;

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use sinew::{CallFailure, Client, Context, Message, MessageInfo, Shared, Unique};

use crate::bench::run::{Collected, executor};
use crate::cli::DemoOptions;
use crate::error::Error;
use crate::terminal::{self, Terminal};
use controls::{Controls, Panel, Sources};
use filter::Filter;
use frame::{Camera, Frame};
use save::Saver;
use screen::Screen;
use settings::{SetEdges, Settings};
use viewer::{Copies, Seen, Viewer};

impl Message for Frame {}

/// How long each picture is shown, in seconds.
const PER_PICTURE: f64 = 0.75;

/// How long the panel waits for the filter, which answers when it has drawn the frames that came before.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it runs when nobody can press Ctrl-C.
const UNATTENDED: Duration = Duration::from_secs(3);

/// Runs until the time is over or Ctrl-C is pressed, then says what there was to see.
pub(crate) fn run(options: &DemoOptions) -> Result<(), Error> {
    let saver = options.save.as_deref().map(Saver::start).transpose()?;
    let terminal = Terminal::take()?;
    let seen = show(options, terminal, saver)?;
    seen.with(|seen| {
        // First, whatever else went wrong: no file is to be left half-written.
        let saved = seen.saver.take().map(Saver::finish);
        if let Some(error) = seen.failure.take() {
            return Err(error);
        }
        writeln!(io::stdout(), "in all {}", screen::line(&seen.summary())).map_err(Error::Output)?;
        let (Some(saved), Some(directory)) = (saved, &options.save) else { return Ok(()) };
        writeln!(io::stdout(), "{} frames saved in {}", saved?, directory.display()).map_err(Error::Output)
    })
}

/// The three nodes. When this returns they are gone, and the terminal is given back.
fn show(
    options: &DemoOptions,
    terminal: Option<Terminal>,
    saver: Option<Saver<Shared<Frame>>>,
) -> Result<Collected<Seen>, Error> {
    let context = Context::new()?;
    let executor = executor(options.executor);
    let stop = executor.stop_handle();
    terminal::stop_on_signal(move || stop.stop(), terminal.as_ref())?;
    executor.add(&context)?;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is 1000 at most")]
    let mut pictures = Camera::new((options.rate * PER_PICTURE).ceil() as u64);
    let camera = context.node("camera")?;
    let frames = camera.publisher::<Frame>("frames").create()?;
    let from_camera = frames.clone();
    let _shutter = camera.timer(Duration::from_secs_f64(1.0 / options.rate)).callback(move || {
        let mut frame = frames.loan();
        pictures.capture(&mut frame);
        frames.publish(frame)
    })?;

    let filter = context.node("filter")?;
    let filters = filter.group(Filter::default());
    let drawn = filter.publisher::<Frame>("edges").create()?;
    let from_filter = drawn.clone();
    let filtering = filter.subscription::<Frame>("frames").in_group(&filters).callback(
        move |filter: &mut Filter, mut frame: Unique<Frame>| {
            filter.apply(&mut frame);
            drawn.publish(frame)
        },
    )?;

    let _settings = filter
        .service::<SetEdges>("~/set_edges")
        .in_group(&filters)
        .callback(|filter: &mut Filter, settings: &Settings| filter.set(*settings))?;

    let copies = Copies { publishers: [from_camera, from_filter], filtering };
    let seen = Collected::new(Seen::new(copies, saver));
    let panel = Collected::new(Panel::default());
    let sources = Sources {
        keys: terminal.as_ref().is_some_and(Terminal::has_keys),
        automatic: options.settings,
        tells: terminal.is_none(),
    };
    let viewer = context.node("viewer")?;
    let screen = Screen::new(terminal, panel.clone());
    let group = viewer.group(Viewer::new(screen, seen.clone(), executor.stop_handle()));
    let _viewing = viewer.subscription::<Frame>("edges").in_group(&group).callback(
        |viewer: &mut Viewer, frame: Shared<Frame>, info: &MessageInfo| viewer.view(&frame, info),
    )?;

    let stop = executor.stop_handle();
    let time = options.seconds.or((!io::stdout().is_terminal()).then_some(UNATTENDED));
    let _end = time.map(|time| viewer.timer(time).callback(move || stop.stop())).transpose()?;
    let set_edges = context.node("panel")?.client::<SetEdges>("/filter/set_edges").create()?;
    let mut controls =
        Controls::start(sources, panel, executor.stop_handle(), move |settings| ask(&set_edges, settings))?;
    let outcome = executor.spin();
    controls.end();
    context.shutdown(); // so that no call is waited for
    drop(controls);
    outcome?;
    Ok(seen)
}

/// Has the filter take other settings. Yields what it took, or why it didn't.
fn ask(filter: &Client<SetEdges>, settings: Settings) -> Result<Settings, String> {
    match filter.call(settings, PATIENCE) {
        Ok(accepted) => Ok(*accepted),
        Err(error) => Err(match error.failure() {
            CallFailure::Failed { message } => message.clone(), // its own words
            _ => error.to_string(),
        }),
    }
}
