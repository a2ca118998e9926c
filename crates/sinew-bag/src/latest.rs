//! The last messages of a topic before a time: what a latched topic has to say at that time.

use crate::message::BagMessage;
use crate::reader::Bag;
use crate::stored_file::Found;

/// Returns the last `count` messages of the topics before a time, the earliest first. `topics` are
/// places among the bag's topics.
///
/// Reads backwards from that time, and no file that ends before the messages which are found
/// already. Damage is passed over; that of what is played is reported then.
pub(crate) fn latest(bag: &Bag, topics: &[usize], before: u64, count: usize) -> Vec<BagMessage> {
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
        let in_file = file.latest(numbers, topics, before, count).into_iter();
        found.extend(in_file.map(|message| ((message.0.received, place), message)));
        found.sort_by_key(|(key, _)| *key);
        found.drain(..found.len().saturating_sub(count));
    }
    let messages = found.into_iter().map(|(_, (stamps, topic, bytes))| bag.message(stamps, topic, bytes));
    messages.filter_map(Result::ok).collect()
}
