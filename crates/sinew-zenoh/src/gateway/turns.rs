//! The order of topics on a slow link: plain data, without a clock or a link.
//!
//! Flow queuing as in FQ-CoDel (RFC 8290, sections 4.1 and 4.2), with topics as flows, measured in
//! bytes. Each flow has a *credit* of bytes, which its messages use up. Flows that have just begun
//! to wait are served first, until their first credit is used up; then they queue behind the
//! others, and get another [`QUANTUM`] each time they reach the front without credit. So a topic of
//! few bytes never waits for more than the message that is being sent, and topics that want more
//! than the link takes share it by bytes, whatever the size of their messages.
//!
//! A flow that has nothing more to send stays once at the end of the queue before it leaves: a flow
//! that comes and goes is not treated as new each time.

use std::collections::VecDeque;

/// Bytes of a turn.
const QUANTUM: i64 = 16 << 10;

/// Bytes that each message counts in addition to its own.
pub(super) const OVERHEAD: usize = 100;

/// Flows that wait for their turn.
pub(super) struct Turns<T> {
    /// Flows that have just begun to wait, the first one first.
    new: VecDeque<Turn<T>>,
    old: VecDeque<Turn<T>>,
}

/// The turn of a flow.
pub(super) struct Turn<T> {
    pub(super) flow: T,
    credit: i64,
    is_new: bool,
}

impl<T> Turn<T> {
    /// Bytes after which the next flow's turn begins.
    pub(super) fn credit(&self) -> usize {
        usize::try_from(self.credit).unwrap_or(0).max(1)
    }
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { new: VecDeque::new(), old: VecDeque::new() }
    }
}

impl<T> Turns<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// Records that a flow has begun to wait.
    pub(super) fn begin(&mut self, flow: T) {
        self.new.push_back(Turn { flow, credit: QUANTUM, is_new: true });
    }

    /// Returns the flow that has its turn. The caller gives it back by [`go_on`](Self::go_on) or
    /// [`end`](Self::end).
    pub(super) fn next(&mut self) -> Option<Turn<T>> {
        loop {
            let mut turn = self.new.pop_front().or_else(|| self.old.pop_front())?;
            if turn.credit > 0 {
                return Some(turn);
            }
            turn.credit += QUANTUM;
            self.queue(turn);
        }
    }

    /// Records that the flow has sent `sent` bytes, and has more.
    pub(super) fn go_on(&mut self, mut turn: Turn<T>, sent: usize) {
        turn.credit = turn.credit.saturating_sub_unsigned(sent as u64);
        if turn.credit <= 0 {
            turn.credit += QUANTUM;
            self.queue(turn);
        } else if turn.is_new {
            self.new.push_front(turn);
        } else {
            self.old.push_front(turn);
        }
    }

    /// Records that the flow has sent `sent` bytes, and has nothing left. It is returned if it
    /// leaves; it may first stay for a while.
    pub(super) fn end(&mut self, mut turn: Turn<T>, sent: usize) -> Option<T> {
        turn.credit = turn.credit.saturating_sub_unsigned(sent as u64);
        if !turn.is_new && turn.credit > 0 {
            return Some(turn.flow);
        }
        self.queue(turn);
        None
    }

    fn queue(&mut self, turn: Turn<T>) {
        self.old.push_back(Turn { is_new: false, ..turn });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Runs a link that takes `messages` messages. `topics`: the bytes of each topic's messages,
    /// and how many of them arrive for each message that the link takes. Returns the messages and
    /// bytes that each topic has sent.
    fn run(topics: &[(usize, f64)], messages: usize) -> Vec<(u64, u64)> {
        let mut turns = Turns::default();
        let mut waiting: HashMap<usize, f64> = HashMap::new();
        let mut in_turns = vec![false; topics.len()];
        let mut sent = vec![(0, 0); topics.len()];
        for _ in 0..messages {
            for (topic, (_, rate)) in topics.iter().enumerate() {
                let count = waiting.entry(topic).or_default();
                *count += rate;
                if *count >= 1.0 && !std::mem::replace(&mut in_turns[topic], true) {
                    turns.begin(topic);
                }
            }
            // The link takes one message.
            while let Some(turn) = turns.next() {
                let topic = turn.flow;
                let count = waiting.get_mut(&topic).expect("each has one");
                if *count < 1.0 {
                    if turns.end(turn, 0).is_some() {
                        in_turns[topic] = false;
                    }
                    continue;
                }
                *count -= 1.0;
                let bytes = topics[topic].0;
                sent[topic].0 += 1;
                sent[topic].1 += bytes as u64;
                turns.go_on(turn, bytes + OVERHEAD);
                break;
            }
        }
        sent
    }

    #[test]
    fn a_small_topic_goes_whatever_else_wants_to() {
        let sent = run(&[(120_000, 20.0), (20, 0.5), (6_000_000, 1.0)], 1000);
        assert!(sent[1].0 >= 499, "each of its messages goes at once: {sent:?}");
    }

    #[test]
    fn large_ones_share_the_link_by_bytes() {
        let sent = run(&[(120_000, 10.0), (1_000_000, 10.0), (40_000, 10.0)], 10_000);
        let bytes: Vec<_> = sent.iter().map(|(_, bytes)| *bytes).collect();
        let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
        assert!(most - least <= 3_000_000, "{bytes:?}");
    }

    #[test]
    fn none_is_starved_by_one_that_comes_and_goes() {
        // The camera has one message at each look, and never a second one.
        let sent = run(&[(120_000, 20.0), (60_000, 1.0)], 10_000);
        assert!(sent[0].1 * 10 > sent[1].1 * 9, "half of the link is the camera's: {sent:?}");
    }

    #[test]
    fn it_is_empty_when_all_have_left() {
        let mut turns = Turns::default();
        turns.begin("once");
        let turn = turns.next().expect("it waits");
        assert_eq!(turns.end(turn, 10), None, "it stays for a while");
        let turn = turns.next().expect("it stays");
        assert_eq!(turns.end(turn, 0), Some("once"));
        assert!(turns.is_empty() && turns.next().is_none());
    }
}
