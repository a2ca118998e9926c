//! What ROS 2 prescribes: plain data.
//!
//! | file | what |
//! |---|---|
//! | `name` | names of nodes, topics and services |
//! | `arguments` | the command line |
//! | `remap` | rules that rename nodes, topics and services |
//! | `parameters` | what is said of parameters outside the program |
//! | `qos` | quality of service |
//! | `origin` | where an end is at home: here, or behind a gateway |
//! | `mismatch` | what keeps two ends apart |
//! | `failure` | why single operations fail |
//! | `similar` | names that may have been meant |
//! | `of_node` | services that nodes have without a program's doing |
//! | `unmatched` | rules that have matched nothing |
//! | `hints` | what a context says of itself after a while |
//! | `timer_report` | what a timer tells tools of itself |

pub(crate) mod arguments;
pub(crate) mod failure;
pub(crate) mod hints;
pub(crate) mod mismatch;
pub(crate) mod name;
pub(crate) mod of_node;
pub(crate) mod origin;
pub(crate) mod parameters;
pub(crate) mod qos;
pub(crate) mod remap;
pub(crate) mod report;
pub(crate) mod similar;
pub(crate) mod timer_report;
pub(crate) mod unmatched;
