//! Sentences on how the types of a server and a client differ.

use super::server_core::ServerCore;
use crate::service::pending_calls::RemoteServer;
use crate::service::types::ServiceTypes;
use crate::topic::remote_endpoint::RemoteEndpoint;
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use std::fmt::Display;

/// Describes the types of both sides, or how they differ.
#[cold]
pub(super) fn mismatch(service: &str, server: &ServerCore, types: &ServiceTypes) -> String {
    let place = format_args!("node {}", server.node);
    let (name, ..) = server.types.published();
    differ_in(service, place, (&name, server.types.description()), types)
        .unwrap_or_else(|| differ(service, place, server.types.describe(), types))
}

/// The same for a server elsewhere.
pub(super) fn mismatch_remote(service: &str, server: &dyn RemoteServer, types: &ServiceTypes) -> String {
    let described = server.described();
    let RemoteEndpoint { process, type_name, hash, .. } = described;
    let theirs = format_args!("{type_name} ({})", TypeHash(*hash).short());
    differ_in(service, process, (type_name, described.description()), types)
        .unwrap_or_else(|| differ(service, process, theirs, types))
}

/// Describes how two types of one name differ, if both are known.
fn differ_in(
    service: &str,
    place: impl Display,
    (name, theirs): (&str, Option<TypeDescription>),
    types: &ServiceTypes,
) -> Option<String> {
    let ours = types.service.filter(|ours| ours.name == name).and_then(|_| types.description())?;
    let difference = theirs?.difference(&ours, ["at the server", "at the client"])?;
    Some(format!("the server of {service} in {place} has another {name} than the client: {difference}"))
}

fn differ(service: &str, place: impl Display, theirs: impl Display, types: &ServiceTypes) -> String {
    let types = types.describe();
    format!("the server of {service} in {place} has type {theirs}, the client has type {types}")
}
