//! The configuration of a session and a router: rmw_zenoh's defaults, the files and variables that
//! ROS 2's users know, and the program's options. Each overrides the ones before it.
//!
//! | variable | meaning |
//! |---|---|
//! | `ZENOH_SESSION_CONFIG_URI`, `ZENOH_ROUTER_CONFIG_URI` | a file (JSON5) that replaces the defaults |
//! | `ROS_AUTOMATIC_DISCOVERY_RANGE` | the reach of the session, see below |
//! | `ROS_STATIC_PEERS` | hosts, separated by `;`; the session connects to their routers |
//! | `ZENOH_CONFIG_OVERRIDE` | `key/path=value;..`, values in JSON5 |
//! | `ZENOH_ROUTER_CHECK_ATTEMPTS` | see [`RouterCheck`] |
//!
//! `ROS_AUTOMATIC_DISCOVERY_RANGE` is one of:
//!
//! - `LOCALHOST` (the default): listens on this host alone;
//! - `SUBNET`: listens on all addresses, and finds other sessions by multicast;
//! - `OFF`: connects only to hosts that are named.

use std::fmt::Write;
use zenoh::Config;
use zenoh::config::EndPoint;

/// The port of routers.
pub const ROUTER_PORT: u16 = 7447;

/// Settings that differ from zenoh's own defaults: rmw_zenoh's for sessions
/// (`DEFAULT_RMW_ZENOH_SESSION_CONFIG.json5`).
const SESSION: [(&str, &str); 20] = [
    ("mode", r#""peer""#),
    ("connect/endpoints", r#"["tcp/localhost:7447"]"#),
    ("connect/timeout_ms", "{ router: -1, peer: -1, client: 0 }"),
    ("connect/exit_on_failure", "{ router: false, peer: false, client: true }"),
    ("listen/endpoints", r#"["tcp/localhost:0"]"#),
    ("scouting/multicast/enabled", "false"),
    ("scouting/gossip/target", r#"{ router: ["router", "peer"], peer: ["router"] }"#),
    ("scouting/gossip/autoconnect", r#"{ router: [], peer: ["router", "peer"] }"#),
    ("scouting/gossip/autoconnect_strategy", r#"{ peer: { to_router: "always", to_peer: "greater-zid" } }"#),
    ("timestamping/enabled", "{ router: true, peer: true, client: true }"),
    ("queries_default_timeout", "600000"),
    ("transport/unicast/open_timeout", "60000"),
    ("transport/unicast/accept_timeout", "60000"),
    ("transport/unicast/accept_pending", "10000"),
    ("transport/unicast/max_sessions", "10000"),
    ("transport/link/tx/lease", "60000"),
    ("transport/link/tx/keep_alive", "2"),
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000"),
    ("transport/shared_memory/enabled", "false"),
    ("adminspace/enabled", "true"),
];

/// Limits, in bytes, of sent data that waits in the kernel. rmw_zenoh leaves them to the kernel,
/// which would buffer megabytes; nothing overtakes that data, which takes seconds on a slow link.
/// (The kernel doubles the number.)
const BUFFERS: [(&str, &str); 2] =
    [("transport/link/tcp/so_sndbuf", "131072"), ("transport/link/tls/so_sndbuf", "131072")];

/// Settings of routers in addition to those of sessions (`DEFAULT_RMW_ZENOH_ROUTER_CONFIG.json5`).
const ROUTER: [(&str, &str); 5] = [
    ("mode", r#""router""#),
    ("connect/endpoints", "[]"),
    ("listen/endpoints", r#"["tcp/[::]:7447"]"#),
    ("listen/exit_on_failure", "true"),
    ("listen/timeout_ms", "0"),
];

/// The reason why a configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file can't be read or understood.
    #[error("{variable} names {path}, which can't be used: {problem}")]
    File {
        /// The variable that names the file.
        variable: &'static str,
        /// The file.
        path: String,
        /// The problem with it.
        problem: String,
    },
    /// A variable or an option has an unusable value.
    #[error("{whose} is `{value}`, {problem}")]
    Value {
        /// The variable, or the option.
        whose: String,
        /// Its value.
        value: String,
        /// The problem, and the expected form.
        problem: String,
    },
}

/// A program's options for its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Endpoints to connect to, instead of this host's router: `tcp/HOST:7447`.
    pub connect: Vec<String>,
    /// Endpoints to listen on, instead of a port of this host alone: `tcp/[::]:7448`.
    pub listen: Vec<String>,
    /// Sends everything through the router that the session is connected to. For hosts that other
    /// hosts can't reach.
    pub client: bool,
    /// Finds other sessions of the network segment by multicast, and is found by them.
    pub multicast: bool,
    /// Further settings, as `key/path` and JSON5.
    pub set: Vec<(String, String)>,
}

/// A starting session's wait for a router, by `ZENOH_ROUTER_CHECK_ATTEMPTS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RouterCheck {
    /// Not set: looks once, and warns if there is no router.
    #[default]
    Once,
    /// Negative: doesn't look.
    Skip,
    /// Looks this number of times, a second apart; then the session continues without a router.
    Times(u32),
    /// 0: waits until there is a router.
    Forever,
}

/// Looks up an environment variable; a function, so that tests need no real variables.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Looks a variable up in the process's own environment.
pub fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the configuration of a session.
///
/// ```
/// use sinew_zenoh::config::{SessionOptions, session};
/// let config = session(&|_| None, &SessionOptions::default())?;
/// assert_eq!(config.get_json("mode").unwrap(), r#""peer""#);
/// # Ok::<(), sinew_zenoh::config::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError`]
pub fn session(environment: Environment<'_>, options: &SessionOptions) -> Result<Config, ConfigError> {
    let mut config = base("ZENOH_SESSION_CONFIG_URI", environment, &[&SESSION, &BUFFERS])?;
    discovery(environment, &mut config)?;
    overrides(environment, &mut config)?;
    apply(options, &mut config)?;
    Ok(config)
}

/// Returns the configuration of a router.
///
/// # Errors
/// [`ConfigError`]
pub fn router(environment: Environment<'_>, options: &SessionOptions) -> Result<Config, ConfigError> {
    let mut config = base("ZENOH_ROUTER_CONFIG_URI", environment, &[&SESSION, &BUFFERS, &ROUTER])?;
    overrides(environment, &mut config)?;
    apply(options, &mut config)?;
    set(&mut config, "mode", r#""router""#, || "the router's mode".to_owned())?;
    Ok(config)
}

/// Gives a gateway's session an id that marks it for other gateways, unless an id is configured.
pub(crate) fn mark(config: &mut Config) -> Result<(), ConfigError> {
    if config.get_json("id").is_ok_and(|id| id != "null") {
        return Ok(());
    }
    let id = crate::wire::session_id::new();
    set(config, "id", &format!("{id:?}"), || "the session's id".to_owned())
}

/// Returns how a session waits for a router.
///
/// # Errors
/// [`ConfigError`]: the variable is not a number.
pub fn router_check(environment: Environment<'_>) -> Result<RouterCheck, ConfigError> {
    const NAME: &str = "ZENOH_ROUTER_CHECK_ATTEMPTS";
    let Some(value) = environment(NAME) else { return Ok(RouterCheck::Once) };
    match value.trim().parse::<i64>() {
        Ok(0) => Ok(RouterCheck::Forever),
        Ok(times) => Ok(u32::try_from(times).map_or(RouterCheck::Skip, RouterCheck::Times)),
        Err(_) => Err(ConfigError::Value {
            whose: NAME.to_owned(),
            value,
            problem: "but is a number: how often a router is looked for, 0 for ever, less than 0 not at all"
                .to_owned(),
        }),
    }
}

/// Returns the configuration in the file that a variable names, or the defaults.
fn base(
    variable: &'static str,
    environment: Environment<'_>,
    defaults: &[&[(&str, &str)]],
) -> Result<Config, ConfigError> {
    if let Some(path) = environment(variable) {
        // Zenoh reports the problem in a file, but not the file's name.
        return Config::from_file(&path).map_err(|error| {
            let problem = if std::fs::exists(&path).unwrap_or(false) {
                reason(&error)
            } else {
                "there is no such file".to_owned()
            };
            ConfigError::File { variable, path, problem }
        });
    }
    let mut config = Config::default();
    for (key, value) in defaults.iter().copied().flatten() {
        set(&mut config, key, value, || format!("the default of {key}"))?;
    }
    Ok(config)
}

fn set(
    config: &mut Config,
    key: &str,
    value: &str,
    whose: impl FnOnce() -> String,
) -> Result<(), ConfigError> {
    config.insert_json5(key, value).map_err(|error| ConfigError::Value {
        whose: whose(),
        value: value.to_owned(),
        problem: format!("which zenoh refuses: {}", reason(&error)),
    })
}

/// Returns the first line of a zenoh error, without its location in zenoh's source.
pub(crate) fn reason(error: &zenoh::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.split(" at /").next().unwrap_or(line).trim().to_owned()
}

fn discovery(environment: Environment<'_>, config: &mut Config) -> Result<(), ConfigError> {
    const RANGE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
    const PEERS: &str = "ROS_STATIC_PEERS";
    let range = environment(RANGE).unwrap_or_default();
    let whose = || format!("the setting implied by {RANGE}");
    match range.to_ascii_uppercase().as_str() {
        "" | "SYSTEM_DEFAULT" | "LOCALHOST" => {}
        "SUBNET" => {
            set(config, "scouting/multicast/enabled", "true", whose)?;
            set(config, "listen/endpoints", r#"["tcp/[::]:0"]"#, whose)?;
        }
        "OFF" => {
            set(config, "connect/endpoints", "[]", whose)?;
            set(config, "scouting/multicast/enabled", "false", whose)?;
            set(config, "scouting/gossip/enabled", "false", whose)?;
        }
        _ => {
            return Err(ConfigError::Value {
                whose: RANGE.to_owned(),
                value: range,
                problem: "but is one of SUBNET, LOCALHOST, OFF and SYSTEM_DEFAULT".to_owned(),
            });
        }
    }
    let Some(peers) = environment(PEERS) else { return Ok(()) };
    let peers = peers.split(';').map(str::trim).filter(|peer| !peer.is_empty());
    let peers: Vec<_> = peers.map(endpoint_of_peer).collect();
    peers.iter().try_for_each(|endpoint| check(endpoint, || PEERS.to_owned()))?;
    let before = config.get_json("connect/endpoints").unwrap_or_default();
    let before = before.trim_matches(['[', ']']);
    let more = quoted(&peers);
    let all = if before.is_empty() { format!("[{more}]") } else { format!("[{before},{more}]") };
    set(config, "connect/endpoints", &all, || format!("the setting implied by {PEERS}"))
}

/// Returns zenoh's endpoint for a host, with or without a port, or for an endpoint.
fn endpoint_of_peer(peer: &str) -> String {
    let has_port = |peer: &str| {
        let address = peer.rsplit_once(':');
        address.is_some_and(|(host, port)| {
            port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
        })
    };
    match peer {
        endpoint if endpoint.contains('/') => endpoint.to_owned(),
        peer if has_port(peer) => format!("tcp/{peer}"),
        peer if peer.contains(':') && !peer.starts_with('[') => format!("tcp/[{peer}]:{ROUTER_PORT}"),
        peer => format!("tcp/{peer}:{ROUTER_PORT}"),
    }
}

fn check(endpoint: &str, whose: impl FnOnce() -> String) -> Result<(), ConfigError> {
    let problem = match endpoint.parse::<EndPoint>() {
        Ok(parsed) => {
            let protocol = parsed.protocol().as_str().to_owned();
            match ["tcp", "tls"].contains(&protocol.as_str()) {
                true if parsed
                    .address()
                    .as_str()
                    .rsplit_once(':')
                    .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) =>
                {
                    return Ok(());
                }
                true => "but needs a host and a port, as in tcp/192.168.0.7:7447".to_owned(),
                false => format!("but the protocol {protocol} isn't built in: tcp and tls are"),
            }
        }
        Err(_) => "but an endpoint is PROTOCOL/HOST:PORT, as in tcp/192.168.0.7:7447".to_owned(),
    };
    Err(ConfigError::Value { whose: whose(), value: endpoint.to_owned(), problem })
}

fn quoted(endpoints: &[String]) -> String {
    let mut all = String::new();
    for endpoint in endpoints {
        let comma = if all.is_empty() { "" } else { "," };
        // Writing to a `String` can't fail.
        let _ = write!(all, "{comma}{endpoint:?}");
    }
    all
}

fn overrides(environment: Environment<'_>, config: &mut Config) -> Result<(), ConfigError> {
    const NAME: &str = "ZENOH_CONFIG_OVERRIDE";
    let Some(value) = environment(NAME) else { return Ok(()) };
    for entry in entries(&value) {
        let Some((key, value)) = entry.split_once('=') else {
            return Err(ConfigError::Value {
                whose: format!("an entry of {NAME}"),
                value: entry.to_owned(),
                problem: "but is key/path=value".to_owned(),
            });
        };
        let (key, value) = (key.trim(), value.trim());
        set(config, key, value, || format!("{key} in {NAME}"))?;
    }
    Ok(())
}

/// Splits at semicolons, except for those in quoted texts.
fn entries(text: &str) -> Vec<&str> {
    let (mut all, mut begin, mut quote, mut is_escaped) = (Vec::new(), 0, None, false);
    for (at, character) in text.char_indices() {
        match (character, quote) {
            _ if is_escaped => is_escaped = false,
            ('\\', Some(_)) => is_escaped = true,
            ('"' | '\'', None) => quote = Some(character),
            (other, Some(open)) if other == open => quote = None,
            (';', None) => {
                all.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[begin..]);
    all.retain(|entry| !entry.trim().is_empty());
    all
}

fn apply(options: &SessionOptions, config: &mut Config) -> Result<(), ConfigError> {
    let SessionOptions { connect, listen, client, multicast, set: more } = options;
    for (endpoints, key, option) in
        [(connect, "connect/endpoints", "--connect"), (listen, "listen/endpoints", "--listen")]
    {
        endpoints.iter().try_for_each(|endpoint| check(endpoint, || option.to_owned()))?;
        if !endpoints.is_empty() {
            set(config, key, &format!("[{}]", quoted(endpoints)), || option.to_owned())?;
        }
    }
    if *multicast {
        set(config, "scouting/multicast/enabled", "true", || "--multicast".to_owned())?;
        if listen.is_empty() {
            set(config, "listen/endpoints", r#"["tcp/[::]:0"]"#, || "--multicast".to_owned())?;
        }
    }
    if *client {
        set(config, "mode", r#""client""#, || "--client".to_owned())?;
        set(config, "listen/endpoints", "[]", || "--client".to_owned())?;
    }
    more.iter().try_for_each(|(key, value)| set(config, key, value, || key.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(config: &Config, key: &str) -> String {
        config.get_json(key).unwrap()
    }

    fn with<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn session_of(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        session(&with(variables), &SessionOptions::default())
    }

    #[test]
    fn a_session_is_as_rmw_zenoh_has_it() {
        let config = session_of(&[]).unwrap();
        for (key, value) in [
            ("mode", r#""peer""#),
            ("connect/endpoints", r#"["tcp/localhost:7447"]"#),
            ("listen/endpoints", r#"["tcp/localhost:0"]"#),
            ("scouting/multicast/enabled", "false"),
            ("queries_default_timeout", "600000"),
            ("transport/link/tx/lease", "60000"),
            ("transport/link/tcp/so_sndbuf", "131072"),
        ] {
            assert_eq!(json(&config, key), value, "{key}");
        }
    }

    #[test]
    fn a_router_listens_on_its_port() {
        let config = router(&|_| None, &SessionOptions::default()).unwrap();
        assert_eq!(json(&config, "mode"), r#""router""#);
        assert_eq!(json(&config, "listen/endpoints"), r#"["tcp/[::]:7447"]"#);
        assert_eq!(json(&config, "connect/endpoints"), "[]");
        let options =
            SessionOptions { listen: vec!["tcp/127.0.0.1:0".to_owned()], ..SessionOptions::default() };
        let config = router(&|_| None, &options).unwrap();
        assert_eq!(json(&config, "listen/endpoints"), r#"["tcp/127.0.0.1:0"]"#);
    }

    #[test]
    fn how_far_it_looks() {
        let subnet = session_of(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")]).unwrap();
        assert_eq!(json(&subnet, "scouting/multicast/enabled"), "true");
        assert_eq!(json(&subnet, "listen/endpoints"), r#"["tcp/[::]:0"]"#);
        let off = session_of(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "off")]).unwrap();
        assert_eq!(json(&off, "connect/endpoints"), "[]");
        let peers = "robot; 10.0.0.7:7448;fe80::1;tls/base:7447";
        let some = session_of(&[("ROS_STATIC_PEERS", peers)]).unwrap();
        assert_eq!(
            json(&some, "connect/endpoints"),
            r#"["tcp/localhost:7447","tcp/robot:7447","tcp/10.0.0.7:7448","tcp/[fe80::1]:7447","tls/base:7447"]"#
        );
        let error = session_of(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "WORLD")]).unwrap_err();
        assert!(
            error.to_string().starts_with("ROS_AUTOMATIC_DISCOVERY_RANGE is `WORLD`, but is one of SUBNET")
        );
    }

    #[test]
    fn what_overrules_it() {
        let text = r#"mode="client"; connect/endpoints=["tcp/a;b:1"];;"#;
        let config = session_of(&[("ZENOH_CONFIG_OVERRIDE", text)]).unwrap();
        assert_eq!(
            (json(&config, "mode"), json(&config, "connect/endpoints")),
            (r#""client""#.into(), r#"["tcp/a;b:1"]"#.into())
        );
        for (text, part) in [
            ("mode", "an entry of ZENOH_CONFIG_OVERRIDE is `mode`, but is key/path=value"),
            ("no/such=1", "no/such in ZENOH_CONFIG_OVERRIDE is `1`, which zenoh refuses"),
            ("mode=7", "mode in ZENOH_CONFIG_OVERRIDE is `7`, which zenoh refuses"),
        ] {
            let error = session_of(&[("ZENOH_CONFIG_OVERRIDE", text)]).unwrap_err().to_string();
            assert!(error.starts_with(part), "{error}");
        }
    }

    #[test]
    fn files() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("session.json5");
        std::fs::write(&path, "{ mode: 'client', /* as it is */ }").unwrap();
        let path = path.to_str().unwrap();
        let config = session_of(&[("ZENOH_SESSION_CONFIG_URI", path)]).unwrap();
        assert_eq!(json(&config, "mode"), r#""client""#);
        std::fs::write(path, "{ mode: ").unwrap();
        let error = session_of(&[("ZENOH_SESSION_CONFIG_URI", path)]).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("ZENOH_SESSION_CONFIG_URI names {path}, which can't be used: ")),
            "{error}"
        );
        let error = session_of(&[("ZENOH_SESSION_CONFIG_URI", "/no/such.json5")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ZENOH_SESSION_CONFIG_URI names /no/such.json5, which can't be used: there is no such file"
        );
    }

    #[test]
    fn endpoints_that_are_none() {
        for (endpoint, part) in [
            ("robot", "but an endpoint is PROTOCOL/HOST:PORT"),
            ("tcp/robot", "but needs a host and a port"),
            ("tcp/robot:99999", "but needs a host and a port"),
            ("quic/robot:7447", "but the protocol quic isn't built in"),
        ] {
            let options = SessionOptions { connect: vec![endpoint.to_owned()], ..SessionOptions::default() };
            let error = session(&|_| None, &options).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--connect is `{endpoint}`, {part}")), "{error}");
        }
    }

    #[test]
    fn how_long_it_waits_for_a_router() {
        let check = |value: &str| router_check(&with(&[("ZENOH_ROUTER_CHECK_ATTEMPTS", value)]));
        assert_eq!(router_check(&|_| None), Ok(RouterCheck::Once));
        assert_eq!(check("0"), Ok(RouterCheck::Forever));
        assert_eq!(check("-1"), Ok(RouterCheck::Skip));
        assert_eq!(check("3"), Ok(RouterCheck::Times(3)));
        assert!(check("some").is_err());
    }
}
