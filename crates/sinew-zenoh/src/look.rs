//! Looks at the network without taking part: asks a router for its nodes. For tools.

use crate::config::{ConfigError, Environment, SessionOptions};
use crate::wire::token::{ADMIN_SPACE, Token};
use std::time::Duration;
use zenoh::Wait;

/// Most nodes that are accepted: every one that a peer announces takes memory here.
const MOST: usize = 20_000;

/// The network can't be inspected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookError {
    /// The configuration is unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The router can't be reached, or doesn't answer.
    #[error("the router at {router} can't be asked: {reason}")]
    Router {
        /// Its endpoint.
        router: String,
        /// Zenoh's reason.
        reason: String,
    },
}

/// Returns the tokens of a domain's nodes that the router at an endpoint (`tcp/HOST:7447`) knows,
/// also of those that its other peers can't reach.
///
/// Opens a session of its own, as a client of that router, and closes it. Starts threads of zenoh.
/// Blocks until the router has answered, for at most `patience` after connecting.
///
/// ```no_run
/// use std::time::Duration;
/// let environment = sinew_zenoh::config::process_environment;
/// for node in sinew_zenoh::look::nodes(&environment, "tcp/localhost:7447", 0, Duration::from_secs(1))? {
///     println!("{}", node.full_node());
/// }
/// # Ok::<(), sinew_zenoh::look::LookError>(())
/// ```
///
/// # Errors
/// [`LookError`]
pub fn nodes(
    environment: Environment<'_>,
    router: &str,
    domain: u32,
    patience: Duration,
) -> Result<Vec<Token>, LookError> {
    let options =
        SessionOptions { connect: vec![router.to_owned()], client: true, ..SessionOptions::default() };
    let config = crate::config::session(environment, &options)?;
    let failed = |error: zenoh::Error| LookError::Router {
        router: router.to_owned(),
        reason: crate::config::reason(&error),
    };
    let session = zenoh::open(config).wait().map_err(failed)?;
    let asked = session.liveliness().get(format!("{ADMIN_SPACE}/{domain}/*/*/*/NN/**")).timeout(patience);
    let replies = asked.wait().map_err(failed)?;
    let token = |reply: zenoh::query::Reply| Token::parse(reply.result().ok()?.key_expr().as_str()).ok();
    let nodes = std::iter::from_fn(|| replies.recv().ok()).filter_map(token).take(MOST).collect();
    let _ = session.close().wait(); // as in `Router::close`
    Ok(nodes)
}
