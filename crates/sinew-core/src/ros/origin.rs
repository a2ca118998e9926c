//! Where an end is at home: in a process of this host, or behind a gateway.

/// Where an endpoint or a node is at home, as its participant tells of it.
///
/// A gateway brings ends of other hosts into its domain. They match the ends of this host, and not
/// each other: nothing comes back to the network that came from it, however many gateways there
/// are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Origin {
    /// In the process that tells of it.
    #[default]
    Local,
    /// On the network. A gateway stands for it: its messages come and go there.
    Network,
    /// On the network, and only told of: it is seen and matched, but what it gets goes by a
    /// [`Carrier`](Self::Carrier).
    Listed,
    /// A gateway's own end, by which messages go to the network. Lists don't show it, and matching
    /// doesn't count it: it counts those that are listed once this is there.
    Carrier,
    /// As [`Network`](Self::Network), of a program that matches as rmw_zenoh does, which looks at no
    /// QoS: it matches ends of this host whatever their QoS and its own are.
    AnyQosNetwork,
    /// As [`Listed`](Self::Listed), of such a program.
    AnyQosListed,
}

impl Origin {
    /// As it is told; see the table of `remote::shm::endpoint_info`.
    const ALL: [Self; 6] =
        [Self::Local, Self::Network, Self::Listed, Self::Carrier, Self::AnyQosNetwork, Self::AnyQosListed];

    pub(crate) fn to_byte(self) -> u8 {
        self as u8 // its place above
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Whether two ends exchange messages, as far as that goes by where they are at home.
    pub(crate) fn meets(self, other: Self) -> bool {
        self == Self::Local || other == Self::Local
    }

    /// Whether it counts as an end of its own: with those that it matches, and in lists.
    pub fn is_shown(self) -> bool {
        self != Self::Carrier
    }

    /// Whether a gateway stands for it, by which its messages come and go.
    pub fn is_network(self) -> bool {
        matches!(self, Self::Network | Self::AnyQosNetwork)
    }

    /// Whether it is only told of: what it gets goes by another end.
    pub fn is_listed(self) -> bool {
        matches!(self, Self::Listed | Self::AnyQosListed)
    }

    /// Whether it matches ends of this host whatever their QoS is.
    pub fn matches_any_qos(self) -> bool {
        matches!(self, Self::AnyQosNetwork | Self::AnyQosListed)
    }

    /// Whether it is on another host, or belongs to what is.
    pub fn is_remote(self) -> bool {
        self != Self::Local
    }
}
