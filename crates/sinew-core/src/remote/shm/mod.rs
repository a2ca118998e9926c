//! The other processes of the host: this context's participant in shared memory, and its view of
//! the others. This is the transport over shared memory: it implements the traits with which
//! [`topic`](crate::topic) reaches endpoints elsewhere; nothing there depends on it.
//!
//! | file | contents |
//! |---|---|
//! | `transport` | endpoints of other processes, and the news of them |
//! | `own_participant` | advertising endpoints, and the ports on which threads are notified |
//! | `local_endpoints` | the endpoints of this process, as the transport sees them |
//! | `endpoint_info` | the data that participants publish of an entity |
//! | `sender` | a publisher's way out: `PublisherEndpoint` and `RemoteSink` |
//! | `remote_publisher` | a publisher of another process, for its subscriptions: `RemoteSource` |
//! | `directed` | a line: requests or answers for one reader elsewhere that must get all |
//! | `services` | services: `RemoteServer`, `RemoteServerConnection` and `RemoteClient` |
//! | `type_descriptions` | descriptions of this process's types, for tools |
//! | `listing` | all of the others' nodes and endpoints, for programs that look at the graph |
//! | `receiver_thread` | the thread that receives for subscriptions without an executor |

mod directed;
pub(crate) mod endpoint_info;
pub(crate) mod listing;
pub(crate) mod local_endpoints;
pub(crate) mod notes;
pub(crate) mod own_participant;
pub(crate) mod receiver_thread;
pub(crate) mod remote_publisher;
pub(crate) mod sender;
pub(crate) mod services;
pub(crate) mod transport;
mod type_descriptions;
