//! Peer.

fn main() {}
