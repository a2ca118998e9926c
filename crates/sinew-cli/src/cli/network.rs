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

    /// Find others of the network segment by multicast, and be found: without a router.
    #[arg(long, conflicts_with = "client")]
    pub(crate) multicast: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RouterOptions {
    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,
}
