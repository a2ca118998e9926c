//! The counters of a gateway, as a program reads them.

/// Counters of a topic's messages between the domain and the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RouteStatistics {
    /// Messages that went to the network.
    pub sent: u64,
    /// Bytes of their encoded forms.
    pub sent_bytes: u64,
    /// Messages that didn't go to the network, because newer ones displaced them or the session
    /// refused them.
    pub unsent: u64,
    /// Messages that waited for the link for more than a second.
    pub late: u64,
    /// Messages that were dropped because of a [rate limit](crate::rules).
    pub limited: u64,
    /// Messages of the network that were published here.
    pub received: u64,
    /// Bytes of their encoded forms.
    pub received_bytes: u64,
    /// Messages that remote publishers published and that didn't arrive.
    pub missed: u64,
    /// Messages that arrived and could not be published here.
    pub refused: u64,
}

/// The current state of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GatewayStatistics {
    /// Whether this gateway leads in its domain. The others do nothing.
    pub leads: bool,
    /// Its session's id.
    pub session: String,
    /// Nodes and endpoints of this host that the network knows.
    pub local: usize,
    /// Nodes and endpoints of the network that this host knows.
    pub remote: usize,
    /// Per topic: its name, its type, and its counters.
    pub topics: Vec<(String, String, RouteStatistics)>,
    /// Per service: its name, its type, and the numbers of calls that were forwarded, answered and
    /// failed.
    pub services: Vec<(String, String, [u64; 3])>,
    /// Tokens of the network that were invalid.
    pub garbage: u64,
}
