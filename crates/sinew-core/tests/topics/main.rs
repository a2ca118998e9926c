//! Topics: who gets what, in which form, and for how long.

mod adapters;
mod copies;
mod copy_free;
mod counters;
mod generic;
mod joining;
mod large;
mod letting_go;
mod lifetime;
mod pools;
mod qos;
#[path = "../support/mod.rs"]
mod support;
mod views;
