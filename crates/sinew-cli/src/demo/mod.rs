//! `sinew demo`: three nodes pass real pictures on. Each frame stays in one place from the camera
//! to the viewer, in one process or with the viewer in another one.

mod between;
mod controls;
mod edges;
mod filter;
mod frame;
mod languages;
mod making;
mod preview;
mod run;
mod save;
mod screen;
mod settings;
mod viewer;
mod watch;

pub(crate) use run::run;
