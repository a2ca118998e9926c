//! Loom models of what is lock-free, and of the protocols between locks.
