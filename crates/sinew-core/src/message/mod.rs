//! Messages: their handles, their memory, their metadata.

pub(crate) mod backing;
pub(crate) mod block;
pub(crate) mod erased;
pub(crate) mod generic;
pub(crate) mod handle;
pub(crate) mod incoming;
pub(crate) mod info;
pub(crate) mod into_message;
pub(crate) mod registered;
pub(crate) mod sample;
pub(crate) mod type_support;
pub(crate) mod work;

pub use handle::{Shared, Unique};
pub use info::{ChainGuard, Gid, Lineage, MessageInfo, SourceInfo, Transport};
pub use sample::{Check, Sample, View};
