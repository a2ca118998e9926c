//! `sinew node|topic|service|action`: the nodes and endpoints of a domain and their activity, read
//! from the participants' own memory.
//!
//! Only these commands join the domain: `topic echo`, `topic delay`, `topic plot`, `topic image`,
//! `topic pub`, `service call`, `action send_goal`, and `topic hz` and `bw` for topics that only
//! the network has. For all others, the observed processes do no work, and don't notice. Names and
//! forms of the output are those of the `ros2` command where it has them.

mod action;
mod call;
mod carried;
mod commands;
mod delay;
mod echo;
mod following;
mod held;
mod image;
mod info;
mod list;
mod listening;
pub(crate) mod mismatch;
pub(crate) mod one_sided;
mod plot;
mod printing;
mod publish;
mod qos;
mod template;
pub(crate) mod timers;
mod track;
mod values;
mod watch;

pub(crate) use carried::{NOT_CARRIED, Taken};
pub(crate) use commands::{action, node, service, topic};
pub(crate) use held::{Held, STUCK_NS};
pub(crate) use track::{Change, Latencies, Track, dropped};
