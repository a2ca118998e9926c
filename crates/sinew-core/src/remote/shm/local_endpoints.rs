//! The endpoints of this process, as the transport sees them.

use crate::parameters::clients::ParameterClients;
use crate::ros::hints::Hints;
use crate::service::registry::ServiceRegistry;
use crate::sys::sync::Arc;
use crate::topic::graph::Graph;
use crate::topic::session::Session;

/// The context as the transport sees it: the endpoints of this process.
pub(crate) trait LocalEndpoints: Send + Sync {
    fn session(&self) -> &Arc<Session>;
    fn graph(&self) -> &Graph;
    fn services(&self) -> &ServiceRegistry;
    fn parameter_clients(&self) -> &ParameterClients;
    fn hints(&self) -> &Hints;
}
