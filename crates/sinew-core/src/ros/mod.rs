//! The rules of ROS 2, as plain data.
//!
//! | file | what |
//! |---|---|
//! | `name` | names of nodes, topics and services |
//! | `arguments` | the command line |
//! | `remap` | rules that rename nodes, topics and services |
//! | `parameters` | values of parameters from outside the program |
//! | `qos` | quality of service |
//! | `origin` | the home of an endpoint: here, or behind a gateway |
//! | `mismatch` | the reasons why two endpoints do not match |
//! | `failure` | errors of single operations |
//! | `similar` | names that may have been meant |
//! | `of_node` | services that nodes have without a program's doing |
//! | `unmatched` | rules that have matched nothing |
//! | `hints` | hints that a context logs after a while |
//! | `timer_report` | a timer's report for tools |

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
