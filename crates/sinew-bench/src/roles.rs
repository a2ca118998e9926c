//! The roles of other processes.

use crate::process::Role;
use crate::{
    big, entities, fanout, floors, latest, pingpong, pipeline, process_chain, service_chain, throughput,
    topology,
};

/// Every role of this program.
pub(crate) const ROLES: &[Role] = &[
    #[cfg(feature = "gateway")]
    Role::of::<crate::net::GatewayProcess>(),
    Role::of::<floors::Second>(),
    Role::of::<entities::IntraCrowd>(),
    Role::of::<entities::OtherEnds>(),
    Role::of::<entities::Newcomer>(),
    Role::of::<entities::Known>(),
    Role::of::<process_chain::Part>(),
    Role::of::<pingpong::Echo>(),
    Role::of::<fanout::Readers>(),
    Role::of::<pipeline::Viewers>(),
    Role::of::<service_chain::Serving>(),
    Role::of::<topology::DebugNode>(),
    Role::of::<big::BigReader>(),
    Role::of::<throughput::Drain>(),
    Role::of::<latest::LatestReader>(),
];
