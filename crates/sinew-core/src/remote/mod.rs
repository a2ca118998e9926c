//! Transports: how ends elsewhere are reached. Each implements the traits that
//! [`topic`](crate::topic) and [`service`](crate::service) own, and is known to nothing there.

pub(crate) mod shm;
