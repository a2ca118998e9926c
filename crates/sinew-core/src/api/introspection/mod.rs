//! Topics on which endpoints report about themselves, if the program enables it, for observers of a
//! running system.
//!
//! | file | what |
//! |---|---|
//! | `service_events` | `_service_event`: requests and responses of clients and servers |
//! | `topic_statistics` | `/statistics`: age and period of a subscription's messages |

pub(crate) mod service_events;
pub(crate) mod topic_statistics;
