//! Makes a gateway.

use super::error::{GatewayError, LAST_DOMAIN};
use super::handle::Gateway;
use super::leader::{Claim, Leads};
use super::start::Start;
use super::thread;
use crate::config::{Environment, RouterCheck, SessionOptions, process_environment};
use crate::rules::{RuleOptions, Rules};
use sinew::__private::locks::Mutex;
use sinew::Context;
use sinew_shm::Domain;
use std::sync::Arc;
use std::sync::mpsc;

impl Gateway {
    /// Returns a builder with the defaults of rmw_zenoh and of the environment; see
    /// [`config`](crate::config).
    pub fn builder() -> GatewayBuilder {
        let (options, rules) = (SessionOptions::default(), RuleOptions::default());
        GatewayBuilder { options, rules, strict_qos: false }
    }
}

/// Makes a [`Gateway`].
#[derive(Debug, Clone)]
#[must_use = "nothing is brought over before `start`"]
pub struct GatewayBuilder {
    options: SessionOptions,
    rules: RuleOptions,
    strict_qos: bool,
}

impl GatewayBuilder {
    /// Connects to that endpoint (`tcp/HOST:7447`), instead of this host's router. May be called
    /// repeatedly.
    pub fn connect(mut self, endpoint: impl Into<String>) -> Self {
        self.options.connect.push(endpoint.into());
        self
    }

    /// Listens on that endpoint, instead of on a port that only this host reaches. May be called
    /// repeatedly.
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.options.listen.push(endpoint.into());
        self
    }

    /// Sets which names may pass, under which names on the network, and how often; see
    /// [`rules`](crate::rules). The default passes everything unchanged.
    pub fn rules(mut self, rules: RuleOptions) -> Self {
        self.rules = rules;
        self
    }

    /// Sets whether local and remote endpoints must have compatible QoS also if the other program
    /// isn't Sinew's. By default they match as in rmw_zenoh, which ignores QoS: a best-effort
    /// publisher here reaches a reliable subscription of ROS 2, and the log reports once which
    /// promise doesn't hold. Endpoints of two Sinew hosts are always matched strictly.
    pub fn strict_qos(mut self, is_strict: bool) -> Self {
        self.strict_qos = is_strict;
        self
    }

    /// Sets all options at once.
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.options = options;
        self
    }

    /// Starts the gateway for the context's domain: for the context's nodes and those of all other
    /// programs in the domain. Publishers of this context put their messages into the network's
    /// session on their own threads, except for large messages, for which they would have to wait
    /// on a slow link.
    ///
    /// Starts a thread, which opens the session. A missing router is not an error: the session
    /// keeps looking for one.
    ///
    /// # Errors
    /// [`GatewayError`]
    pub fn start(self, context: &Context) -> Result<Gateway, GatewayError> {
        self.start_with(context, &process_environment)
    }

    /// Starts the gateway with another environment than the process's.
    ///
    /// # Errors
    /// [`GatewayError`]
    pub fn start_with(
        self,
        context: &Context,
        environment: Environment<'_>,
    ) -> Result<Gateway, GatewayError> {
        let mut config = crate::config::session(environment, &self.options)?;
        crate::config::mark(&mut config)?;
        let check = crate::config::router_check(environment)?;
        let rules = Rules::new(&self.rules)?;
        let domain = context.domain();
        if domain > LAST_DOMAIN {
            return Err(GatewayError::Domain { domain });
        }
        if !context.has_shared_memory() {
            return Err(GatewayError::NoSharedMemory);
        }
        let place = Domain::open(context.directory(), domain)?;
        let claim = Claim::new(&place)?;
        let (changes, told) = mpsc::channel();
        let leads = Arc::<Leads>::default();
        let start = Start {
            context: context.clone(),
            place,
            config,
            rules,
            strict_qos: self.strict_qos,
            check: if self.options.connect.is_empty() { check } else { RouterCheck::Skip },
            changes: changes.clone(),
            leads: leads.clone(),
        };
        // If this gateway leads at once, problems with the session are reported at once.
        let first = if claim.leads()? { Some(start.open()?) } else { None };
        let thread = std::thread::Builder::new()
            .name("sinew-gateway".to_owned())
            .spawn(move || thread::run(&start, &claim, first, &told))
            .map_err(GatewayError::Thread)?;
        Ok(Gateway { changes, leads, told: Mutex::default(), thread: Some(thread) })
    }
}
