//! The roles of other processes.

use crate::Part;
use crate::floors::Second;
use crate::languages::{RustChain, RustPublish, RustRaw, RustTalk};
use crate::options::{
    BigCase, EntitiesCase, FanoutCase, LatestCase, MatchingCase, PingPongCase, PipelineCase,
    ProcessChainCase, RequestsCase, ThroughputCase, TopologyCase,
};
use crate::process::Role;

/// The roles in the users' scenarios.
pub(crate) const OF_USERS: &[Role] = &[
    Role::of::<Second>(),
    Role::of::<Part<EntitiesCase>>(),
    Role::of::<RustChain>(),
    Role::of::<RustPublish>(),
    Role::of::<RustRaw>(),
    Role::of::<RustTalk>(),
    Role::of::<Part<PingPongCase>>(),
    Role::of::<Part<TopologyCase>>(),
    Role::of::<Part<ThroughputCase>>(),
];

/// The roles in all other scenarios.
pub(crate) const OTHERS: &[Role] = &[
    #[cfg(feature = "gateway")]
    Role::of::<crate::net::GatewayProcess>(),
    Role::of::<Part<MatchingCase>>(),
    Role::of::<Part<ProcessChainCase>>(),
    Role::of::<Part<FanoutCase>>(),
    Role::of::<Part<PipelineCase>>(),
    Role::of::<Part<RequestsCase>>(),
    Role::of::<Part<BigCase>>(),
    Role::of::<Part<LatestCase>>(),
];
