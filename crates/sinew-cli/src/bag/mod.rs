//! `sinew bag`: files of recorded messages.

mod copies;
mod image;
mod info;
mod losses;
mod mend;
pub(crate) mod opening;
mod overview;
pub(crate) mod play;
mod play_keys;
mod play_screen;
mod plot;
mod record;
mod record_screen;
mod session;

use crate::cli::bag::BagCommand;
use crate::error::Error;

/// Runs `sinew bag`.
pub(crate) fn run(command: &BagCommand) -> Result<(), Error> {
    match command {
        BagCommand::Play(options) => play::run(options),
        BagCommand::Record(options) => record::run(options),
        BagCommand::Info(options) => overview::picture(options).and_then(|()| info::info(options)),
        BagCommand::List(options) => info::list(options),
        BagCommand::Check(options) => mend::check(options),
        BagCommand::Reindex(options) => mend::reindex(options),
        BagCommand::Convert(options) => copies::convert(options),
        BagCommand::Filter(options) => copies::filter(options),
        BagCommand::Merge(options) => copies::merge(options),
        BagCommand::Cut(options) => copies::cut(options),
        BagCommand::Plot(options) => plot::plot(options),
        BagCommand::Image(options) => image::image(options),
    }
}
