//! `sinew bag image`: the pictures of a topic as files.

use sinew_bag::{BagMessage, Selection};
use sinew_msg::Message;

use super::copies::part;
use super::opening::open;
use crate::cli::pictures::BagImageOptions;
use crate::error::Error;
use crate::images::{self, Pictures, Undecoded};

/// Runs `sinew bag image`.
pub(super) fn image(options: &BagImageOptions) -> Result<(), Error> {
    let bag = open(&options.bag)?;
    let name = &options.image.topic;
    let selection = Selection::all().topic(name);
    bag.messages(&selection)?; // the name is checked
    for topic in bag.topics().iter().filter(|topic| topic.name == *name) {
        images::check(name, &topic.type_name)?;
    }
    let (start, until) = part(&bag, &options.bag, &options.part)?;
    let mut pictures = Pictures::create(&options.image)?;
    let messages = bag.messages(&selection.from(start).until(until))?;
    for (number, message) in (0..).zip(messages) {
        if !pictures.is_wanted(number) {
            continue;
        }
        match message {
            Ok(message) => pictures.save(number, message.stamps.received, &message)?,
            Err(error) => pictures.warn(number, &error.to_string()),
        }
    }
    pictures.report()?;
    match pictures.lost() {
        0 => Ok(()),
        count => Err(Error::DamagedBag { count }),
    }
}

impl Undecoded for BagMessage {
    fn type_name(&self) -> &str {
        &self.topic.type_name
    }

    fn decode<T: Message>(&self) -> Result<T, String> {
        BagMessage::decode(self).map_err(|error| error.to_string())
    }
}
