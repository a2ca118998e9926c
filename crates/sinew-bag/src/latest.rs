//! The last messages of a topic before a time: what a latched topic has to say at that time.

use crate::message::BagMessage;
use crate::piece::{self, Piece};
use crate::reader::Bag;

/// Returns the last `count` messages of the topics before a time, the earliest first. `topics` are
/// places among the bag's topics.
///
/// Reads backwards from that time, and only pieces with messages of these topics, so far as the
/// bag says which these are. Damaged pieces are read as far as they go; that of pieces that are
/// played is reported then.
pub(crate) fn latest(bag: &Bag, topics: &[usize], before: u64, count: usize) -> Vec<BagMessage> {
    let mut pieces: Vec<(usize, &Piece)> = Vec::new();
    for (file, McapPieces { pieces: all, topics: of_channels }) in pieces_of(bag).enumerate() {
        let is_wanted = |channel: &u16| {
            let topic = of_channels.get(usize::from(*channel)).copied().flatten();
            topic.is_some_and(|topic| topics.contains(&topic))
        };
        let has_wanted = |piece: &&Piece| {
            piece.start < before && piece.channels.as_ref().is_none_or(|all| all.iter().any(is_wanted))
        };
        pieces.extend(all.iter().filter(has_wanted).map(|piece| (file, piece)));
    }
    pieces.sort_by_key(|(_, piece)| piece.end);
    // By time, then in the order of the bag.
    let mut found: Vec<((u64, usize, usize), BagMessage)> = Vec::new();
    for (file, piece) in pieces.into_iter().rev() {
        let is_complete = found.len() >= count;
        if is_complete && found.first().is_none_or(|((time, ..), _)| piece.end < *time) {
            break;
        }
        let content = piece::read(&bag.files[file].bytes, &piece.place);
        for (header, body) in content.messages().filter(|(header, _)| header.log_time < before) {
            let topic = bag.channels[file].get(usize::from(header.channel)).copied().flatten();
            if let Some(topic) = topic.filter(|topic| topics.contains(topic)) {
                let place = (header.log_time, file, piece.place.begin().saturating_add(body.start));
                let message = BagMessage::new(&header, bag.topics[topic].clone(), content.message(&body));
                found.push((place, message));
            }
        }
        found.sort_by_key(|(place, _)| *place);
        found.drain(..found.len().saturating_sub(count));
    }
    found.into_iter().map(|(_, message)| message).collect()
}

/// The pieces of a file, and the topics of its channels.
struct McapPieces<'a> {
    pieces: &'a [Piece],
    topics: &'a [Option<usize>],
}

fn pieces_of(bag: &Bag) -> impl Iterator<Item = McapPieces<'_>> {
    let both = bag.files.iter().zip(&bag.channels);
    both.map(|(file, topics)| McapPieces { pieces: &file.index.pieces, topics })
}
