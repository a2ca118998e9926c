//! Finds out what listens where a gateway finds no router.
//!
//! The first message of a zenoh session is sent by hand, so this needs no zenoh. (Otherwise only
//! zenoh's own log would report why a session is refused.)

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Time limit of each step.
const PATIENCE: Duration = Duration::from_secs(1);

/// Transport messages of zenoh, by the lower five bits of their first byte.
const INIT: u8 = 1;
const CLOSE: u8 = 3;

/// Marks an acknowledgement, as opposed to a request.
const ACKNOWLEDGES: u8 = 0x20;

/// The protocol version from zenoh 1.0 on.
const VERSION: u8 = 9;

/// The listener at an endpoint.
#[derive(Debug)]
pub(super) enum Listener {
    /// A router or a peer that would accept a session.
    Zenoh,
    /// A zenoh of another version: it closes the session.
    Old,
    /// A program that doesn't speak zenoh.
    Other,
    /// No listener.
    Nothing(io::Error),
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zenoh => f.write_str("one listens there now"),
            Self::Old => {
                f.write_str("what listens there refuses the protocol of zenoh 1, as zenoh 0.11 and older do")
            }
            Self::Other => f.write_str("what listens there doesn't speak zenoh"),
            Self::Nothing(error) => write!(f, "it can't be connected to: {error}"),
        }
    }
}

impl Listener {
    /// Returns advice.
    pub(super) fn remedy(&self) -> &'static str {
        match self {
            Self::Zenoh => "the gateway tries again every few seconds; what keeps it away is in its log",
            Self::Old => {
                "update it: zenoh before 1.0 understands none of the newer ones, and neither does an rmw_zenoh that is built with it"
            }
            Self::Other => "give the router's own port: --connect tcp/HOST:7447",
            Self::Nothing(_) => {
                "start `sinew router` (or rmw_zenohd) there, or give another endpoint: sinew gateway --connect tcp/HOST:7447"
            }
        }
    }
}

/// Connects to an endpoint as a session does; `None` if it isn't a TCP endpoint.
pub(super) fn knock(endpoint: &str) -> Option<Listener> {
    let address = endpoint.strip_prefix("tcp/")?;
    Some(ask(address).unwrap_or_else(Listener::Nothing))
}

fn ask(address: &str) -> io::Result<Listener> {
    let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(greet(stream).unwrap_or(Listener::Other)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn greet(mut stream: TcpStream) -> io::Result<Listener> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Two bytes of length, then: the message, the version, the length of the id (minus one, in the
    // upper half) and the role (2: a client), and the id, which no session has for long.
    let mut greeting = vec![19, 0, INIT, VERSION, 15 << 4 | 2];
    greeting.extend_from_slice(b"sinew doctor \0\0\x01");
    stream.write_all(&greeting)?;
    let mut answer = [0; 3];
    stream.read_exact(&mut answer)?;
    let [_, _, header] = answer;
    Ok(match header & 0x1f {
        INIT if header & ACKNOWLEDGES != 0 => Listener::Zenoh,
        CLOSE => Listener::Old,
        _ => Listener::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Returns the listener that answers with these bytes.
    fn answered(answer: &'static [u8]) -> Listener {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("tcp/{}", listener.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut greeting = [0; 21];
            stream.read_exact(&mut greeting).unwrap();
            assert_eq!(greeting[..5], [19, 0, 1, 9, 0xf2]);
            stream.write_all(answer).unwrap();
        });
        let listener = knock(&endpoint).unwrap();
        answering.join().unwrap();
        listener
    }

    #[test]
    fn who_listens_is_told_apart() {
        // The answers of zenoh 0.11 and 1.10.
        assert!(matches!(answered(&[2, 0, 3, 2]), Listener::Old));
        assert!(matches!(answered(&[0x45, 0, 0x21, 9, 0xf1]), Listener::Zenoh));
        assert!(matches!(answered(b"HTTP/1.1 400"), Listener::Other));
        assert!(matches!(answered(b"\x01"), Listener::Other));
        assert!(matches!(answered(&[0, 0, 1]), Listener::Other), "it asks, as we do");
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let nothing = knock(&format!("tcp/{closed}")).unwrap();
        assert!(matches!(nothing, Listener::Nothing(_)), "{nothing}");
        assert!(knock("tls/127.0.0.1:7447").is_none());
        assert!(matches!(knock("tcp/").unwrap(), Listener::Nothing(_)));
    }
}
