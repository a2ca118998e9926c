//! `sinew graph`: nodes, topics and services as a picture.

pub(crate) mod dot;
mod draw;
mod graph_picture;
mod layout;
mod rate;
mod svg;

#[cfg(test)]
mod robot;

pub(crate) use draw::run;
