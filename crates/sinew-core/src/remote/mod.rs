//! Transports, which reach endpoints elsewhere. Each implements the traits of
//! [`topic`](crate::topic) and [`service`](crate::service); nothing there depends on a transport.

pub(crate) mod shm;
