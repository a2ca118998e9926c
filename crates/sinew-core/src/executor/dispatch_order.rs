//! The order in which an executor begins callbacks.

/// The order in which an [`Executor`](crate::Executor) begins callbacks that are ready.
///
/// Priorities of groups come first in both, and a subscription's messages come in their own order in
/// both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum DispatchOrder {
    /// The callback that has been ready longest begins: messages in the order in which they were
    /// published, timers at their due time between them. The default.
    #[default]
    ByTime,
    /// What a callback makes ready begins right after it on the same thread, in the order in which
    /// the callback made it ready, before anything that was ready earlier; after
    /// [64](Self::IN_A_ROW) such callbacks in a row, the callback that has been ready longest has
    /// its turn. Everything else begins by time.
    ///
    /// When several timers are due at once, each one's messages go all their way before the next
    /// timer's callback begins: their latency is shorter, and that timer is later. It holds in
    /// [`spin`](crate::Executor::spin) and its like, not if callbacks are run one by one
    /// (`spin_once`, `spin_some`), in reentrant groups, between groups of several priorities, or in
    /// virtual time: there order is by time. With several threads it holds for what doesn't wake
    /// another thread.
    RunNext,
}

impl DispatchOrder {
    /// The most callbacks that begin before older ones with [`RunNext`](Self::RunNext).
    pub const IN_A_ROW: u32 = 64;
}
