//! Nodes of Rust, C and C++ in one process: a shared library with the Rust nodes and the whole C
//! interface, for programs that link it in place of `libsinew`. `sinew_container_run` of such a
//! program makes the nodes of all languages.

use sinew::Node;
use sinew_c as _; // all its functions are exported
use sinew_component::component;
use std::time::Duration;

/// Says something from time to time.
fn ticker(node: Node) -> sinew::Result<sinew::Timer> {
    Ok(node.timer(Duration::from_secs(1)).callback(|| println!("tick"))?)
}

component!("demo::Ticker", "ticker", ticker);
