//! `sinew gateway` and `sinew router`: connections to other hosts and ROS 2, in rmw_zenoh's format.

#[cfg(feature = "gateway")]
pub(crate) use there::{gateway, router};

#[cfg(not(feature = "gateway"))]
pub(crate) use missing::{gateway, router};

#[cfg(feature = "gateway")]
mod there {
    use std::sync::mpsc::{self, Receiver};
    use std::time::Duration;

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

    /// Returns a receiver that only Ctrl-C notifies.
    fn stops() -> Result<Receiver<()>, Error> {
        let (told, tells) = mpsc::channel();
        let stop = move || {
            let _ = told.send(()); // the second time, nothing waits
        };
        terminal::stop_on_signal(stop, None)?;
        Ok(tells)
    }

    /// Period of asking a waiting gateway whether it leads.
    const PERIOD: Duration = Duration::from_millis(200);

    /// Waits for Ctrl-C. Reports when the gateway takes over.
    fn wait(gateway: &Gateway, number: u32) -> Result<(), Error> {
        let stops = stops()?;
        let on_the_network =
            || format!("domain {number} is on the network, as session {}", gateway.statistics().session);
        if gateway.wait_until_it_leads(Duration::from_millis(500)) {
            print(&format!("{}\n", on_the_network()))?;
        } else {
            says(&format!(
                "another gateway of domain {number} is at work: this one waits until that is gone"
            ));
            while !gateway.wait_until_it_leads(Duration::ZERO) {
                if stops.recv_timeout(PERIOD).is_ok() {
                    return Ok(());
                }
            }
            print(&format!("{}: the gateway before it is gone\n", on_the_network()))?;
        }
        let _ = stops.recv();
        Ok(())
    }

    /// Runs a gateway for a domain until Ctrl-C.
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
        wait(&gateway, number)?;
        gateway.close();
        Ok(())
    }

    /// Runs a router until Ctrl-C.
    pub(crate) fn router(given: &RouterOptions) -> Result<(), Error> {
        let router = Router::start(&process_environment, &options(&given.endpoints))?;
        print(&format!("router {} listens on {}\n", router.id(), router.endpoints().join(", ")))?;
        let _ = stops()?.recv();
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
