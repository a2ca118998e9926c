//! A router: by it the sessions of a host find each other, and hosts are connected. What
//! `rmw_zenohd` is in ROS 2.

use crate::config::{ConfigError, Environment, SessionOptions};
use std::sync::mpsc;
use std::time::Duration;
use zenoh::{Config, Session, Wait};

/// Why a router doesn't run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// Its configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It can't listen there.
    #[error(
        "the router can't listen on {endpoints}: {reason}. Perhaps another router runs there already (then this one isn't needed); \
         --listen tcp/HOST:PORT picks another place"
    )]
    Listen {
        /// Where.
        endpoints: String,
        /// What zenoh said.
        reason: String,
    },
}

/// A router that runs until it is dropped.
#[derive(Debug)]
#[must_use = "a router ends when it is dropped"]
pub struct Router {
    session: Session,
    /// What it was asked for.
    endpoints: Vec<String>,
}

impl Router {
    /// Starts a router with the defaults of `rmw_zenohd`: it listens on port 7447 of all addresses.
    /// Starts threads of zenoh's. Blocks until it listens.
    ///
    /// ```
    /// use sinew_zenoh::Router;
    /// use sinew_zenoh::config::SessionOptions;
    /// let mut options = SessionOptions::default();
    /// options.listen.push("tcp/127.0.0.1:0".to_owned());
    /// let router = Router::start(&|_| None, &options)?;
    /// assert_eq!(router.endpoints().len(), 1);
    /// # Ok::<(), sinew_zenoh::RouterError>(())
    /// ```
    ///
    /// # Errors
    /// [`RouterError`]
    pub fn start(environment: Environment<'_>, options: &SessionOptions) -> Result<Self, RouterError> {
        let config = crate::config::router(environment, options)?;
        let endpoints = endpoints_of(&config);
        let session = zenoh::open(config).wait().map_err(|error| RouterError::Listen {
            endpoints: endpoints.join(", "),
            reason: crate::config::reason(&error),
        })?;
        Ok(Self { session, endpoints })
    }

    /// Where it listens, with the ports that were found. On a host that has no address but
    /// loopback's, where it was asked to.
    pub fn endpoints(&self) -> Vec<String> {
        let found = self.session.info().locators().wait();
        let found: Vec<String> = found.into_iter().map(|locator| locator.to_string()).collect();
        if found.is_empty() { self.endpoints.clone() } else { found }
    }

    /// Its id.
    pub fn id(&self) -> String {
        self.session.zid().to_string()
    }

    /// Ends it; as when it is dropped, but blocks until it is done, for a second at most: what a slow
    /// link has not taken until then goes on without.
    pub fn close(self) {
        close(&self.session, || ());
    }
}

/// How long a session may take to bring out what it has before it is closed. Zenoh would wait for ten
/// seconds.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// Closes a session, after what is to be done `first`. On a slow link a thread goes on with that, and
/// this one doesn't wait.
pub(crate) fn close(session: &Session, first: impl FnOnce() + Send + 'static) {
    let (closes, is_closed) = mpsc::channel();
    let closing = session.clone();
    let thread = std::thread::Builder::new().name("sinew-gw-close".to_owned()).spawn(move || {
        first();
        // A session that is closed already is as good; and nobody may wait any more.
        let _ = closing.close().wait();
        let _ = closes.send(());
    });
    if thread.is_ok() {
        let _ = is_closed.recv_timeout(LAST_BYTES); // it goes on without us
    }
}

fn endpoints_of(config: &Config) -> Vec<String> {
    let listed = config.get_json("listen/endpoints").unwrap_or_default();
    let words = listed.split('"').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}
