//! A router, through which the sessions of a host find each other, and which connects hosts. It
//! corresponds to ROS 2's `rmw_zenohd`.

use crate::config::{ConfigError, Environment, SessionOptions};
use std::sync::mpsc;
use std::time::Duration;
use zenoh::{Config, Session, Wait};

/// A router can't run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// Its configuration is unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It can't listen on its endpoints.
    #[error(
        "the router can't listen on {endpoints}: {reason}. Another router may be running there already (then this one isn't needed); \
         --listen tcp/HOST:PORT picks another place"
    )]
    Listen {
        /// The endpoints.
        endpoints: String,
        /// Zenoh's reason.
        reason: String,
    },
}

/// A router that runs until it is dropped.
///
/// It is meant for a process of its own (`sinew router`). In a process with gateways it shares
/// zenoh's threads that receive with them, of which there are two: under load, one may wait for
/// room in a link and the other behind it, and then no thread reads what would make room. Such a
/// program sets the environment variable `ZENOH_RUNTIME` to `(rx: (worker_threads: 16))`.
#[derive(Debug)]
#[must_use = "a router ends when it is dropped"]
pub struct Router {
    session: Session,
    /// The requested endpoints.
    endpoints: Vec<String>,
}

impl Router {
    /// Starts a router with the defaults of `rmw_zenohd`: it listens on port 7447 of all addresses.
    /// Starts threads of zenoh. Blocks until it listens.
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

    /// Returns the endpoints on which it listens, with their actual ports. On a host with only a
    /// loopback address, these are the requested endpoints.
    pub fn endpoints(&self) -> Vec<String> {
        let found = self.session.info().locators().wait();
        let found: Vec<String> = found.into_iter().map(|locator| locator.to_string()).collect();
        if found.is_empty() { self.endpoints.clone() } else { found }
    }

    /// Returns the id of its session.
    pub fn id(&self) -> String {
        self.session.zid().to_string()
    }

    /// Stops the router, as dropping it does, but blocks until it has stopped, for a second at
    /// most: data that a slow link has not taken by then is sent in the background.
    pub fn close(self) {
        close(&self.session, || ());
    }
}

/// Time that a closing session gets to send the data it has. Zenoh would wait for ten seconds.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// Runs `first`, and then closes a session. On a slow link a thread completes both, and the caller
/// doesn't wait for it.
pub(crate) fn close(session: &Session, first: impl FnOnce() + Send + 'static) {
    let (closes, is_closed) = mpsc::channel();
    let closing = session.clone();
    let thread = std::thread::Builder::new().name("sinew-gw-close".to_owned()).spawn(move || {
        first();
        // The session may be closed already, which is fine, and the caller may no longer wait.
        let _ = closing.close().wait();
        let _ = closes.send(());
    });
    if thread.is_ok() {
        let _ = is_closed.recv_timeout(LAST_BYTES); // the thread goes on alone
    }
}

fn endpoints_of(config: &Config) -> Vec<String> {
    let listed = config.get_json("listen/endpoints").unwrap_or_default();
    let words = listed.split('"').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}
