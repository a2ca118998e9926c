//! What another process can be there for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::process::{self, Measuring};
use crate::{
    big, entities, fanout, floors, latest, pingpong, pipeline, process_chain, service_chain, throughput,
    topology,
};

/// A role, with everything its player has to know.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Role {
    /// The second process of a floor.
    Floor(floors::Second),
    /// Makes many entities, to see what they take.
    Entities(entities::Crowd),
    /// Has one end of many entities.
    Crowd(entities::OtherEnds),
    /// Joins, to be matched.
    Newcomer { directory: PathBuf },
    /// Makes subscriptions when told, to be matched.
    Known { directory: PathBuf },
    /// Some nodes of a chain.
    ChainPart(process_chain::Part),
    /// Answers pings.
    Echo(pingpong::Echo),
    /// Has some of a publisher's subscriptions.
    Readers(fanout::Readers),
    /// Views what a filter makes.
    Viewers(pipeline::Viewers),
    /// Serves calls.
    Server(service_chain::Serving),
    /// Subscribes to every topic of a robot.
    DebugNode(topology::DebugNode),
    /// Gets large images.
    BigReader(big::Reader),
    /// Gets as much as it can.
    Drain(throughput::Drain),
    /// Reads the newest value.
    Latest(latest::Reader),
}

impl process::Work for Role {
    fn scenario(&self) -> &'static str {
        match self {
            Self::Floor(second) => second.floor.name(),
            Self::Entities(_) | Self::Crowd(_) | Self::Newcomer { .. } | Self::Known { .. } => "entities",
            Self::ChainPart(_) => "process-chain",
            Self::Echo(_) => "pingpong",
            Self::Readers(_) => "fanout",
            Self::Viewers(_) => "pipeline",
            Self::Server(_) => "service-chain",
            Self::DebugNode(_) => "topology",
            Self::BigReader(_) => "big",
            Self::Drain(_) => "throughput",
            Self::Latest(_) => "latest",
        }
    }

    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        match self {
            Self::Floor(second) => floors::serve(second),
            Self::Entities(crowd) => measuring.tell(&entities::found(crowd)?),
            Self::Crowd(ends) => entities::serve(ends, measuring),
            Self::Newcomer { directory } => entities::join(directory, measuring),
            Self::Known { directory } => entities::subscribe_when_told(directory, measuring),
            Self::ChainPart(part) => process_chain::serve(part, measuring),
            Self::Echo(echo) => pingpong::serve(echo, measuring),
            Self::Readers(readers) => fanout::serve(readers, measuring),
            Self::Viewers(viewers) => pipeline::serve(viewers, measuring),
            Self::Server(serving) => service_chain::serve(serving, measuring),
            Self::DebugNode(node) => topology::serve(node, measuring),
            Self::BigReader(reader) => big::serve(reader, measuring),
            Self::Drain(drain) => throughput::serve(drain, measuring),
            Self::Latest(reader) => latest::serve(reader, measuring),
        }
    }
}
