//! `sinew topic image`: the pictures of a topic as files, as they come.

use sinew::MessageInfo;
use sinew::QoS;
use sinew::graph::EndpointInfo;
use sinew::msg::TypeHash;
use sinew_msg::Message;

use super::echo::fitting;
use super::following::Following;
use super::listening::{Listener, published_ns};
use crate::cli::pictures::TopicImageOptions;
use crate::error::Error;
use crate::images::{self, Pictures, Undecoded};
use crate::output::says;

/// Runs `sinew topic image`.
pub(super) fn run(options: &TopicImageOptions) -> Result<(), Error> {
    let topics = vec![options.image.topic.clone()];
    let mut following = Following::start(topics, &options.place, ("image", false), None)?;
    let most = options.count.unwrap_or(u64::MAX);
    let mut saving = Saving { pictures: Pictures::create(&options.image)?, most, number: 0 };
    while following.turn(&mut saving)? {}
    let lost = following.end();
    if lost > 0 {
        says(&format!("warning: {lost} messages were lost on the way, or came faster than they were saved"));
    }
    if saving.number == 0 {
        return Err(Error::NothingCame { what: "pictures" });
    }
    saving.pictures.report()?;
    match saving.pictures.lost() {
        0 => Ok(()),
        count => Err(Error::Unread { count }),
    }
}

/// Saves pictures as they come.
struct Saving<'a> {
    pictures: Pictures<'a>,
    most: u64,
    /// The next message.
    number: u64,
}

/// A type, by its name and hash.
struct Known {
    type_name: String,
    hash: TypeHash,
}

impl Listener for Saving<'_> {
    type Known = Known;

    fn qos(&self, publisher: &EndpointInfo) -> QoS {
        fitting(Some(&publisher.qos))
    }

    fn know(&mut self, publisher: &EndpointInfo, hash: TypeHash) -> Result<Known, Error> {
        images::check(&publisher.name, &publisher.type_name)?;
        Ok(Known { type_name: publisher.type_name.clone(), hash })
    }

    fn take(&mut self, known: &Known, encoded: &[u8], info: &MessageInfo) -> Result<bool, Error> {
        if self.pictures.is_wanted(self.number) {
            let lost_before = self.pictures.lost();
            self.pictures.save(self.number, published_ns(info), &Encoded { known, bytes: encoded })?;
            if lost_before == 0 && self.pictures.lost() > 0 && self.most < u64::MAX {
                says("messages that are no pictures don't count for --count: Ctrl-C ends the waiting");
            }
        }
        self.number += 1;
        Ok(self.pictures.saved() < self.most)
    }
}

/// A message of a type.
struct Encoded<'a> {
    known: &'a Known,
    bytes: &'a [u8],
}

impl Undecoded for Encoded<'_> {
    fn type_name(&self) -> &str {
        &self.known.type_name
    }

    fn decode<T: Message>(&self) -> Result<T, String> {
        match T::ENCODING {
            Some(encoding) if encoding.hash == self.known.hash => {
                (encoding.decode)(self.bytes).map_err(|error| error.to_string())
            }
            _ => Err(format!("its publisher has another version of {}", self.known.type_name)),
        }
    }
}
