//! The options of `sinew gateway` and `sinew router`.

use clap::Args;

use super::tools::Where;

/// Where a session or a router connects to, and listens.
#[derive(Args, Clone, Debug)]
pub(crate) struct EndpointOptions {
    /// Connect to that endpoint, as tcp/HOST:7447. May be given several times. A gateway connects to
    /// this host's router if none is given.
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) connect: Vec<String>,

    /// Listen there, as tcp/[::]:7447 for all addresses. May be given several times. A gateway
    /// listens for this host alone if none is given, a router on port 7447 of all addresses.
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) listen: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct GatewayOptions {
    #[command(flatten)]
    pub(crate) place: Where,

    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,

    /// Everything goes through the router: for a host that others can't connect to.
    #[arg(long)]
    pub(crate) client: bool,

    /// Let only topics and services pass that match: /camera/**, where * is one word and ** any
    /// number. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) allow: Vec<String>,

    /// Let topics and services not pass that match, whatever is allowed. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) deny: Vec<String>,

    /// This host's names stand under that namespace on the network: robot1 makes /scan /robot1/scan
    /// there.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Let so many messages of a topic out in a second at most, for slow links: /camera/**=5. May be
    /// given several times.
    #[arg(long, value_name = "PATTERN=HZ")]
    pub(crate) rate: Vec<String>,

    /// Match ends of this host with those of ROS 2 by their QoS, too. By default they match as
    /// rmw_zenoh's own do, which looks at no QoS.
    #[arg(long)]
    pub(crate) strict_qos: bool,

    /// Find others of the network segment by multicast, and be found: without a router.
    #[arg(long, conflicts_with = "client")]
    pub(crate) multicast: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RouterOptions {
    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,
}
