//! Counters of clients and servers.

/// Counts of a client's calls so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ClientStatistics {
    /// Calls, including those that were not accepted.
    pub calls: u64,
    /// Calls that were answered with a response.
    pub answered: u64,
    /// Calls that ended with an error other than a timeout.
    pub failed: u64,
    /// Calls that were given up: timeouts, and dropped futures.
    pub abandoned: u64,
    /// Calls that wait for their answer now.
    pub waiting: u64,
}

/// Counts of a server's requests so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServerStatistics {
    /// Requests that entered its queue.
    pub received: u64,
    /// Requests that wait in it now.
    pub waiting: u64,
    /// Requests that were taken by a [`Responder`](crate::Responder) or a future and have no answer
    /// yet.
    pub in_hand: u64,
    /// Responses that reached their callers.
    pub answered: u64,
    /// Errors and panics that reached their callers.
    pub failed: u64,
    /// Requests that were dropped without an answer.
    pub dropped: u64,
    /// Answers that no caller waited for any more.
    pub unclaimed: u64,
    /// Requests that their callers took back from the queue.
    pub withdrawn: u64,
    /// Requests that found the queue full.
    pub refused: u64,
}
