//! The server as viewers meet it: over sockets, with a client of these tests.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod client;
mod doors;
mod images;
mod messages;
mod playback;
mod requests;
mod world;
