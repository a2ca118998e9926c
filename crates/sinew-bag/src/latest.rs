//! The last messages of a topic before a time: those that a latched topic retains at that time.

use crate::error::BagError;
use crate::message::BagMessage;
use crate::reader::Bag;
use crate::stored_file::{Found, Last};

/// Returns the last `count` messages of the topics before a time, the earliest first. `topics` are
/// places among the bag's topics.
///
/// Reads backwards from that time, and no file that ends before the messages which are found
/// already. Adds the damage that reading on from that time doesn't find.
pub(crate) fn latest(
    bag: &Bag,
    topics: &[usize],
    last: Last,
    problems: &mut Vec<BagError>,
) -> Vec<BagMessage> {
    let Last { count, before } = last;
    let files = bag.files.iter().zip(&bag.channels).enumerate();
    let mut files: Vec<_> = files
        .filter_map(|(place, (file, numbers))| {
            let (from, to) = file.about().times?;
            (from < before).then_some((to, place, file, numbers))
        })
        .collect();
    files.sort_by_key(|(to, place, ..)| (*to, *place));
    // By time, then in the order of the bag.
    let mut found: Vec<((u64, usize), Found)> = Vec::new();
    for (to, place, file, numbers) in files.into_iter().rev() {
        let is_complete = found.len() >= count;
        if is_complete && found.first().is_none_or(|((time, _), _)| to < *time) {
            break;
        }
        let in_file = file.latest(numbers, topics, last, problems).into_iter();
        found.extend(in_file.map(|message| ((message.0.received, place), message)));
        found.sort_by_key(|(key, _)| *key);
        found.drain(..found.len().saturating_sub(count));
    }
    let messages = found.into_iter().map(|(_, (stamps, topic, bytes))| bag.message(stamps, topic, bytes));
    messages.filter_map(|message| message.map_err(|error| problems.push(error)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Stamps;
    use crate::topic::tests::topic;
    use crate::{BagReader, BagWriter, StorageOptions, StoragePreset, WriterOptions};

    #[test]
    fn damage_before_the_time_is_returned_and_what_is_read_again_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bag");
        let checked = StorageOptions::from_yaml("noChunkCRC: false", StoragePreset::None, "x".as_ref());
        let options = WriterOptions { storage: checked.unwrap(), ..WriterOptions::default() };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let id = writer.add_topic(&topic()).unwrap();
        for time in [0, 1, 2, 3] {
            writer.write(id, Stamps::at(time), b"find me").unwrap();
            if time != 1 {
                writer.flush().unwrap(); // a chunk: of 0, of 1 and 2, of 3
            }
        }
        writer.close().unwrap();
        let file = path.join("bag_0.mcap");
        let mut bytes = std::fs::read(&file).unwrap();
        let at = bytes.windows(7).position(|bytes| bytes == b"find me").unwrap();
        bytes[at] = b'F';
        let second = at + 7 + bytes[at + 7..].windows(7).position(|bytes| bytes == b"find me").unwrap();
        bytes[second] = b'F';
        std::fs::write(&file, bytes).unwrap();
        let bag = BagReader::open(&path).unwrap();
        let look = |before, count| {
            let mut problems = Vec::new();
            let found = latest(bag.bag(), &[0], Last { count, before }, &mut problems);
            let times: Vec<u64> = found.iter().map(|message| message.stamps.received).collect();
            (times, problems.len())
        };
        assert_eq!(look(4, 9), (vec![0, 1, 2, 3], 2));
        assert_eq!(look(2, 9), (vec![0, 1], 1)); // the second chunk is read again from 2 on
        assert_eq!(look(4, 1), (vec![3], 0));
    }
}
