//! Bags that rosbag2 wrote.

use crate::context;
use sinew_bag::{BagReader, PlayEnd, Player, Selection};
use std::path::Path;

#[test]
fn all_their_messages_are_played() {
    for name in ["cdr_test", "rewriter_a", "service_events", "test_bag_for_seek"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let bag = BagReader::open(&path).unwrap();
        let context = context();
        let player = Player::builder(&context).bags([&path]).as_fast_as_possible().start().unwrap();
        assert_eq!(player.wait(), PlayEnd::Finished, "{name}");
        let skipped: Vec<&str> = player.skipped().iter().map(|topic| topic.name.as_str()).collect();
        let is_played = |name: &str| !skipped.contains(&name);
        let messages = bag.messages(&Selection::all()).unwrap().map(Result::unwrap);
        let expected = messages.filter(|message| is_played(&message.topic.name)).count() as u64;
        assert_eq!((player.statistics().published(), player.statistics().lost()), (expected, 0), "{name}");
        assert_eq!(skipped, [""; 0], "{name}: {:?}", player.skipped());
    }
}
