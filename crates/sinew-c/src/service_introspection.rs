//! Events of the requests and responses of clients and servers.

use crate::client::{self, sinew_client};
use crate::handle;
use crate::pulled::{self, sinew_pulled_server};
use crate::qos::{self, sinew_qos};
use crate::service::sinew_server;
use crate::status::{Failure, Result, sinew_status, status};
use sinew::introspection::ServiceIntrospection;
use std::ffi::c_int;

/// The events that a client or a server publishes about its requests and responses:
/// `SINEW_SERVICE_INTROSPECTION_..`, with the numbers of `rcl_service_introspection_state_t`.
pub type sinew_service_introspection = c_int;

/// No events. The default, which costs nothing.
pub const SINEW_SERVICE_INTROSPECTION_OFF: sinew_service_introspection = 0;
/// Events without content: the time, the client and the sequence number.
pub const SINEW_SERVICE_INTROSPECTION_METADATA: sinew_service_introspection = 1;
/// Events with the content of requests and responses.
pub const SINEW_SERVICE_INTROSPECTION_CONTENTS: sinew_service_introspection = 2;

fn introspection(state: sinew_service_introspection) -> Result<ServiceIntrospection> {
    Ok(match state {
        SINEW_SERVICE_INTROSPECTION_OFF => ServiceIntrospection::Off,
        SINEW_SERVICE_INTROSPECTION_METADATA => ServiceIntrospection::Metadata,
        SINEW_SERVICE_INTROSPECTION_CONTENTS => ServiceIntrospection::Contents,
        other => return Err(Failure::enumerator("state", other)),
    })
}

/// Publishes events of a server's requests and responses on the hidden topic
/// `<service>/_service_event`, with this QoS (null: the default one), in place of the former
/// setting. Their type is that which ROS 2 derives from the service's, `package/srv/Name_Event`:
/// `ros2 service echo` and `sinew topic echo` read them.
///
/// Fails with `SINEW_ERROR_NO_ROS_TYPE` if the service has no ROS 2 type, or its description is
/// unknown: each message type needs one, or the service's is given to
/// `sinew_service_type_described`. Fails with `SINEW_ERROR_INVALID_QOS`, `SINEW_ERROR_SHUTDOWN`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_configure_introspection(
    server: *const sinew_server,
    state: sinew_service_introspection,
    qos: *const sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let server = unsafe { handle::get(server, "server") }?;
        // SAFETY: the caller's structure.
        let qos = unsafe { qos::qos(qos) }?;
        Ok(server.server.configure_introspection(introspection(state)?, qos)?)
    })
}

/// Publishes events of a server with requests that are taken by hand; as
/// [`sinew_server_configure_introspection`]. A request counts as received when it arrives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_configure_introspection(
    server: *const sinew_pulled_server,
    state: sinew_service_introspection,
    qos: *const sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let qos = unsafe { qos::qos(qos) }?;
        Ok(pulled::borrow(&server)?.configure_introspection(introspection(state)?, qos)?)
    })
}

/// Publishes events of a client; as [`sinew_server_configure_introspection`]. A request counts as
/// sent just before it is sent, a response as received when it arrives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_configure_introspection(
    client: *const sinew_client,
    state: sinew_service_introspection,
    qos: *const sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let qos = unsafe { qos::qos(qos) }?;
        Ok(client::borrow(&client)?.configure_introspection(introspection(state)?, qos)?)
    })
}
