//! The options of `sinew gateway` and `sinew router`.

use clap::Args;

use super::tools::Where;

/// The endpoints that a session or a router connects to and listens on.
#[derive(Args, Clone, Debug)]
pub(crate) struct EndpointOptions {
    /// Connect to this endpoint, such as tcp/HOST:7447. May be given several times. A gateway
    /// connects to this host's router if none is given.
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) connect: Vec<String>,

    /// Listen on this endpoint, such as tcp/[::]:7447 for all addresses. May be given several
    /// times. A gateway listens for this host alone if none is given, a router on port 7447 of all
    /// addresses.
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) listen: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct GatewayOptions {
    #[command(flatten)]
    pub(crate) place: Where,

    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,

    /// Send everything through the router: for a host that other hosts can't connect to.
    #[arg(long)]
    pub(crate) client: bool,

    /// Let only matching topics and services pass: /camera/**, where * is one word and ** any
    /// number. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) allow: Vec<String>,

    /// Block matching topics and services, even if `--allow` matches them too. May be given several
    /// times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) deny: Vec<String>,

    /// Put this host's names into this namespace on the network: with robot1, /scan is /robot1/scan
    /// there.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Let at most this many messages of a topic out per second, for slow links: /camera/**=5. May
    /// be given several times.
    #[arg(long, value_name = "PATTERN=HZ")]
    pub(crate) rate: Vec<String>,

    /// Also match endpoints of this host with those of ROS 2 by their QoS. By default they match as
    /// in rmw_zenoh, which ignores QoS.
    #[arg(long)]
    pub(crate) strict_qos: bool,

    /// Find other sessions of the network segment by multicast, and be found: without a router.
    #[arg(long, conflicts_with = "client")]
    pub(crate) multicast: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RouterOptions {
    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,
}
