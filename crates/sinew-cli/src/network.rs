//! `sinew gateway` and `sinew router`: to other hosts and ROS 2, in rmw_zenoh's form.

#[cfg(feature = "gateway")]
pub(crate) use there::{gateway, router};

#[cfg(not(feature = "gateway"))]
pub(crate) use missing::{gateway, router};

#[cfg(feature = "gateway")]
mod there {
    use std::sync::mpsc;

    use sinew::Context;
    use sinew_zenoh::config::{SessionOptions, process_environment};
    use sinew_zenoh::rules::RuleOptions;
    use sinew_zenoh::{Gateway, Router};

    use crate::cli::network::{EndpointOptions, GatewayOptions, RouterOptions};
    use crate::error::Error;
    use crate::output::{print, says};
    use crate::terminal;

    fn options(endpoints: &EndpointOptions) -> SessionOptions {
        let mut options = SessionOptions::default();
        options.connect.clone_from(&endpoints.connect);
        options.listen.clone_from(&endpoints.listen);
        options
    }

    /// Waits for Ctrl-C.
    fn wait() -> Result<(), Error> {
        let (told, tells) = mpsc::channel();
        let stop = move || {
            let _ = told.send(()); // the second time none waits
        };
        terminal::stop_on_signal(stop, None)?;
        // Nothing else ends it.
        let _ = tells.recv();
        Ok(())
    }

    /// Brings a domain to the network until Ctrl-C.
    pub(crate) fn gateway(given: &GatewayOptions) -> Result<(), Error> {
        let number = given.place.domain().map_err(Error::DomainNumber)?;
        let context = Context::builder().domain(number).interrupts(false);
        let context = match &given.place.dir {
            Some(directory) => context.directory(directory),
            None => context,
        };
        let context = context.build().map_err(sinew::Error::from)?;
        let mut options = options(&given.endpoints);
        (options.client, options.multicast) = (given.client, given.multicast);
        let mut rules = RuleOptions::default();
        rules.allow.clone_from(&given.allow);
        rules.deny.clone_from(&given.deny);
        rules.namespace.clone_from(&given.namespace);
        rules.rate.clone_from(&given.rate);
        let gateway =
            Gateway::builder().options(options).rules(rules).strict_qos(given.strict_qos).start(&context)?;
        if gateway.wait_until_it_leads(std::time::Duration::from_millis(500)) {
            let session = gateway.statistics().session;
            print(&format!("domain {number} is on the network, as session {session}\n"))?;
        } else {
            says(&format!(
                "another gateway of domain {number} is at work: this one waits until that is gone"
            ));
        }
        wait()?;
        gateway.close();
        Ok(())
    }

    /// Runs a router until Ctrl-C.
    pub(crate) fn router(given: &RouterOptions) -> Result<(), Error> {
        let router = Router::start(&process_environment, &options(&given.endpoints))?;
        print(&format!("router {} listens on {}\n", router.id(), router.endpoints().join(", ")))?;
        wait()?;
        router.close();
        Ok(())
    }
}

#[cfg(not(feature = "gateway"))]
mod missing {
    use crate::cli::network::{GatewayOptions, RouterOptions};
    use crate::error::Error;

    pub(crate) fn gateway(_: &GatewayOptions) -> Result<(), Error> {
        Err(Error::NoNetwork { command: "gateway" })
    }

    pub(crate) fn router(_: &RouterOptions) -> Result<(), Error> {
        Err(Error::NoNetwork { command: "router" })
    }
}
