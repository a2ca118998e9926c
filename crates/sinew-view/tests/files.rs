//! A server in a process that has no free file. Alone in its program, as the limit is the process's.

use rustix::process::{Resource, Rlimit, setrlimit};
use sinew::Context;
use sinew_view::ViewServer;
use std::fs::File;

#[test]
fn a_server_ends_without_a_free_file() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::builder().shared_memory(false).build()?;
    let server = ViewServer::builder().port(0).start(&context)?;
    setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum: Some(128) })?;
    let mut held = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        held.push(file);
    }
    drop(server); // it can't connect to itself
    assert!(!held.is_empty());
    Ok(())
}
