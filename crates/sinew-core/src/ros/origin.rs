//! The home of an endpoint: a process of this host, or another host behind a gateway.

/// The home of an endpoint or a node, as its participant announces it.
///
/// A gateway brings endpoints of other hosts into its domain. They match the endpoints of this
/// host, and not each other: nothing that came from the network goes back there, however many
/// gateways there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Origin {
    /// In the process that announces it.
    #[default]
    Local,
    /// On the network. A gateway stands for it, and its messages go through the gateway.
    Network,
    /// On the network, and only announced: it is seen and matched, but its messages go through a
    /// [`Carrier`](Self::Carrier).
    Listed,
    /// A gateway's own endpoint, which carries messages to the network. Lists don't show it, and
    /// matching doesn't count it: it counts the listed endpoints once the carrier exists.
    Carrier,
    /// As [`Network`](Self::Network), for a program that matches as rmw_zenoh does, without regard
    /// to QoS: it matches endpoints of this host regardless of their QoS and its own.
    AnyQosNetwork,
    /// As [`Listed`](Self::Listed), for such a program.
    AnyQosListed,
}

impl Origin {
    /// In the order of their bytes; see the table of `remote::shm::endpoint_info`.
    const ALL: [Self; 6] =
        [Self::Local, Self::Network, Self::Listed, Self::Carrier, Self::AnyQosNetwork, Self::AnyQosListed];

    pub(crate) fn to_byte(self) -> u8 {
        self as u8 // its index above
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Returns `true` if two endpoints may exchange messages, by their origins alone.
    pub(crate) fn meets(self, other: Self) -> bool {
        self == Self::Local || other == Self::Local
    }

    /// Returns `true` if it counts as an endpoint of its own: in matches and in lists.
    pub fn is_shown(self) -> bool {
        self != Self::Carrier
    }

    /// Returns `true` if a gateway stands for it and passes its messages on.
    pub fn is_network(self) -> bool {
        matches!(self, Self::Network | Self::AnyQosNetwork)
    }

    /// Returns `true` if it is only announced: its messages go through another endpoint.
    pub fn is_listed(self) -> bool {
        matches!(self, Self::Listed | Self::AnyQosListed)
    }

    /// Returns `true` if it matches endpoints of this host regardless of their QoS.
    pub fn matches_any_qos(self) -> bool {
        matches!(self, Self::AnyQosNetwork | Self::AnyQosListed)
    }

    /// Returns `true` if it is on another host, or belongs to a gateway.
    pub fn is_remote(self) -> bool {
        self != Self::Local
    }
}
