//! The roles of other processes.

use crate::process::Role;
use crate::{
    big, entities, fanout, floors, latest, pingpong, pipeline, process_chain, requests, throughput, topology,
};

/// The roles in the users' scenarios.
pub(crate) const OF_USERS: &[Role] = &[
    Role::of::<floors::Second>(),
    Role::of::<entities::IntraCrowd>(),
    Role::of::<entities::OtherEnds>(),
    Role::of::<pingpong::Echo>(),
    Role::of::<topology::DebugNode>(),
    Role::of::<throughput::Drain>(),
];

/// The roles in all other scenarios.
pub(crate) const OTHERS: &[Role] = &[
    #[cfg(feature = "gateway")]
    Role::of::<crate::net::GatewayProcess>(),
    Role::of::<entities::Newcomer>(),
    Role::of::<entities::Known>(),
    Role::of::<process_chain::Part>(),
    Role::of::<fanout::Readers>(),
    Role::of::<pipeline::Viewers>(),
    Role::of::<requests::Serving>(),
    Role::of::<big::BigReader>(),
    Role::of::<latest::LatestReader>(),
];
