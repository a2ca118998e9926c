//! WebSocket connections: the handshake, whole messages in, frames out.
//!
//! A connection has two threads: one reads, one writes. So nothing here answers by itself, not even
//! a ping, and bytes of messages go to the kernel from where they lie.

use crate::settings::Settings;
use crate::wire::SUBPROTOCOLS;
use data_encoding::HEXLOWER_PERMISSIVE;
use std::io::{self, IoSlice, Write as _};
use std::net::TcpStream;
use tungstenite::error::Error;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::{HeaderValue, StatusCode};
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tungstenite::protocol::frame::{FrameHeader, FrameSocket};

/// Codes of close frames (RFC 6455, 7.4.1).
pub(crate) const GOING_AWAY: u16 = 1001;
pub(crate) const PROTOCOL_ERROR: u16 = 1002;
pub(crate) const POLICY: u16 = 1008;
pub(crate) const TOO_BIG: u16 = 1009;

/// Shakes hands with a client that may come in: with one of the subprotocols, the token if there is
/// one, and from a page of an allowed origin.
pub(crate) fn shake_hands(stream: &TcpStream, settings: &Settings) -> Result<(), String> {
    #[expect(clippy::result_large_err, reason = "tungstenite's own type, once for a connection")]
    let answer = |request: &Request, response: Response| admit(request, response, settings);
    match tungstenite::accept_hdr(stream, answer) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[expect(clippy::result_large_err, reason = "tungstenite's own type, once for a connection")]
fn admit(request: &Request, mut response: Response, settings: &Settings) -> Result<Response, ErrorResponse> {
    if !has_token(request, settings) {
        return Err(refusal(StatusCode::UNAUTHORIZED, "a token is needed: ws://host:port/?token=..\n"));
    }
    let origin = request.headers().get("Origin").and_then(|origin| origin.to_str().ok());
    let is_allowed = |origin: &str| settings.origins.iter().any(|allowed| allowed == origin);
    if !settings.origins.is_empty() && origin.is_some_and(|origin| !is_allowed(origin)) {
        return Err(refusal(StatusCode::FORBIDDEN, "pages of this origin are not allowed\n"));
    }
    let offers = request.headers().get_all("Sec-WebSocket-Protocol");
    let offers = offers.iter().filter_map(|offer| offer.to_str().ok());
    let offered: Vec<&str> = offers.flat_map(|offer| offer.split(',')).map(str::trim).collect();
    let Some(chosen) = SUBPROTOCOLS.iter().find(|known| offered.contains(known)) else {
        let text = "this is a server for Foxglove and Lichtblick, with the subprotocol foxglove.sdk.v1\n";
        return Err(refusal(StatusCode::BAD_REQUEST, text));
    };
    response.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static(chosen));
    Ok(response)
}

fn refusal(status: StatusCode, text: &str) -> ErrorResponse {
    let mut refusal = ErrorResponse::new(Some(text.to_owned()));
    *refusal.status_mut() = status;
    refusal.headers_mut().insert("Content-Length", text.len().into());
    refusal.headers_mut().insert("Connection", HeaderValue::from_static("close"));
    refusal
}

/// Whether the request has the token, in its query or as an authorization, if there is one to have.
fn has_token(request: &Request, settings: &Settings) -> bool {
    let Some(token) = &settings.token else { return true };
    let query = request.uri().query().unwrap_or_default();
    let mut in_query = query.split('&').filter_map(|pair| pair.strip_prefix("token="));
    let header = request.headers().get("Authorization").map(HeaderValue::as_bytes);
    let in_header = header.and_then(|header| header.strip_prefix(b"Bearer "));
    in_query.any(|given| is_same(&decoded(given), token.as_bytes()))
        || in_header.is_some_and(|given| is_same(given, token.as_bytes()))
}

/// Decodes the `%26` and the like of an address (RFC 3986, 2.1). A `%` without two digits stands
/// for itself.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|digits| HEXLOWER_PERMISSIVE.decode(digits).ok());
        rest = if byte.is_some() { &after[2..] } else { after };
        bytes.extend(byte.unwrap_or_else(|| vec![*first]));
    }
    bytes
}

/// Compares in a time that doesn't depend on where the texts differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let difference = given.iter().zip(token).fold(0, |found, (a, b)| found | (a ^ b));
    given.len() == token.len() && difference == 0
}

/// A whole message or a control frame of a client.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Text(Vec<u8>),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close,
}

/// The reason why nothing more is read.
#[derive(Debug, PartialEq)]
pub(crate) enum ReadEnd {
    /// The connection is closed.
    Gone,
    /// The socket's timeout has passed; reading may go on.
    Quiet,
    /// A message is longer than allowed.
    TooLong,
    /// The client breaks the protocol.
    Wrong,
}

/// The reading end of a connection.
pub(crate) struct Inlet {
    frames: FrameSocket<TcpStream>,
    /// The type and the beginning of a message that comes in several frames.
    begun: Option<(Data, Vec<u8>)>,
    /// The longest message, in bytes.
    limit: usize,
}

impl Inlet {
    pub(crate) fn new(stream: TcpStream, limit: usize) -> Self {
        Self { frames: FrameSocket::new(stream), begun: None, limit }
    }

    /// Reads the next message or control frame; blocks for at most the stream's timeout.
    pub(crate) fn read(&mut self) -> Result<Incoming, ReadEnd> {
        loop {
            let begun = self.begun.as_ref().map_or(0, |(_, bytes)| bytes.len());
            let frame = match self.frames.read(Some(self.limit - begun)) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Err(ReadEnd::Gone),
                Err(Error::Io(error)) => {
                    return Err(match error.kind() {
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ReadEnd::Quiet,
                        _ => ReadEnd::Gone,
                    });
                }
                Err(Error::Capacity(_)) => return Err(ReadEnd::TooLong),
                Err(_) => return Err(ReadEnd::Wrong),
            };
            let FrameHeader { is_final, rsv1, rsv2, rsv3, opcode, mask } = frame.header().clone();
            let (Some(mask), false) = (mask, rsv1 || rsv2 || rsv3) else { return Err(ReadEnd::Wrong) };
            let mut bytes = Vec::from(frame.into_payload());
            for (byte, mask) in bytes.iter_mut().zip(mask.iter().cycle()) {
                *byte ^= mask;
            }
            let (kind, whole) = match opcode {
                OpCode::Control(control) if is_final => return control_frame(control, bytes),
                OpCode::Data(Data::Continue) => {
                    let Some((kind, mut whole)) = self.begun.take() else { return Err(ReadEnd::Wrong) };
                    whole.extend_from_slice(&bytes);
                    (kind, whole)
                }
                OpCode::Data(kind) if self.begun.is_none() => (kind, bytes),
                _ => return Err(ReadEnd::Wrong),
            };
            match kind {
                _ if !is_final => self.begun = Some((kind, whole)),
                Data::Text => return Ok(Incoming::Text(whole)),
                Data::Binary => return Ok(Incoming::Binary(whole)),
                _ => return Err(ReadEnd::Wrong),
            }
        }
    }
}

fn control_frame(control: Control, bytes: Vec<u8>) -> Result<Incoming, ReadEnd> {
    match control {
        _ if bytes.len() > 125 => Err(ReadEnd::Wrong),
        Control::Ping => Ok(Incoming::Ping(bytes)),
        Control::Pong => Ok(Incoming::Pong),
        Control::Close => Ok(Incoming::Close),
        Control::Reserved(_) => Err(ReadEnd::Wrong),
    }
}

/// Kind of a frame that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Text,
    Binary,
    Ping,
    Pong,
    Close,
}

/// Bytes up to which the body of a frame is copied behind others, to be written with them.
const SMALL: usize = 16 << 10;

/// Bytes that are written at once.
const BATCH: usize = 64 << 10;

/// The writing end of a connection. Writing blocks while the client reads nothing.
pub(crate) struct Outlet {
    stream: TcpStream,
    /// Frames that are not written yet.
    waiting: Vec<u8>,
}

impl Outlet {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, waiting: Vec::with_capacity(BATCH + SMALL) }
    }

    /// Adds a frame of two parts, and writes if there is much to write. A long body is written from
    /// where it lies.
    pub(crate) fn add(&mut self, kind: FrameKind, head: &[u8], body: &[u8]) -> io::Result<()> {
        let opcode = match kind {
            FrameKind::Text => OpCode::Data(Data::Text),
            FrameKind::Binary => OpCode::Data(Data::Binary),
            FrameKind::Ping => OpCode::Control(Control::Ping),
            FrameKind::Pong => OpCode::Control(Control::Pong),
            FrameKind::Close => OpCode::Control(Control::Close),
        };
        let header = FrameHeader { opcode, ..FrameHeader::default() };
        let formatted = header.format((head.len() + body.len()) as u64, &mut self.waiting);
        formatted.map_err(io::Error::other)?; // writing into memory doesn't fail
        self.waiting.extend_from_slice(head);
        if body.len() > SMALL {
            return self.write(body);
        }
        self.waiting.extend_from_slice(body);
        if self.waiting.len() >= BATCH { self.write(&[]) } else { Ok(()) }
    }

    /// Writes everything that was added.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { self.write(&[]) }
    }

    fn write(&mut self, body: &[u8]) -> io::Result<()> {
        let mut parts = [IoSlice::new(&self.waiting), IoSlice::new(body)];
        let mut rest = &mut parts[..];
        IoSlice::advance_slices(&mut rest, 0); // drops empty parts
        while !rest.is_empty() {
            match self.stream.write_vectored(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.waiting.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    /// A client's frame with the mask 0.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).unwrap(), 0, 0, 0, 0];
        frame.extend_from_slice(payload);
        frame
    }

    fn read_all(frames: &[Vec<u8>], limit: usize) -> Vec<Result<Incoming, ReadEnd>> {
        let (mut client, server) = pair();
        frames.iter().for_each(|frame| client.write_all(frame).unwrap());
        drop(client);
        let mut inlet = Inlet::new(server, limit);
        let mut read = Vec::new();
        loop {
            read.push(inlet.read());
            if read.last().is_some_and(Result::is_err) {
                return read;
            }
        }
    }

    #[test]
    fn messages_are_put_together() {
        let frames = [frame(0x01, b"he"), frame(0x89, b"?"), frame(0x80, b"llo"), frame(0x82, &[7])];
        let read = read_all(&frames, 100);
        let expected = [
            Ok(Incoming::Ping(b"?".to_vec())),
            Ok(Incoming::Text(b"hello".to_vec())),
            Ok(Incoming::Binary(vec![7])),
            Err(ReadEnd::Gone),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn wrong_frames_end_the_reading() {
        let unmasked = vec![0x81, 1, b'a'];
        let reserved = frame(0xc1, b"a");
        let strays = [unmasked, reserved, frame(0x80, b"a"), frame(0x83, b"a"), frame(0x09, b"a")];
        for stray in strays {
            assert_eq!(read_all(&[stray], 100), [Err(ReadEnd::Wrong)]);
        }
        assert_eq!(read_all(&[frame(0x81, &[b'a'; 101])], 100), [Err(ReadEnd::TooLong)]);
        let in_parts = [frame(0x01, &[b'a'; 60]), frame(0x80, &[b'a'; 60])];
        assert_eq!(read_all(&in_parts, 100), [Err(ReadEnd::TooLong)]);
        let within = [frame(0x01, b"a"), frame(0x01, b"b")];
        assert_eq!(read_all(&within, 100), [Err(ReadEnd::Wrong)]);
    }

    #[test]
    fn frames_go_out_in_order_whatever_their_length() {
        let (mut client, server) = pair();
        let writer = std::thread::spawn(move || {
            let mut outlet = Outlet::new(server);
            outlet.add(FrameKind::Text, &[], b"a").unwrap();
            outlet.add(FrameKind::Binary, &[1, 2], &vec![3; 1 << 20]).unwrap();
            outlet.add(FrameKind::Close, &[], &GOING_AWAY.to_be_bytes()).unwrap();
            outlet.flush().unwrap();
        });
        let mut read = Vec::new();
        client.read_to_end(&mut read).unwrap();
        writer.join().unwrap();
        assert_eq!(read[..3], [0x81, 1, b'a']);
        assert_eq!(read[3..5], [0x82, 127]);
        assert_eq!(read[5..13], ((1_u64 << 20) + 2).to_be_bytes());
        assert_eq!(read[13..16], [1, 2, 3]);
        assert_eq!(read[read.len() - 4..], [0x88, 2, 0x03, 0xe9]);
    }

    #[test]
    fn tokens_are_compared_whole() {
        assert!(is_same(b"secret", b"secret"));
        assert!(!is_same(b"secre", b"secret") && !is_same(b"secrets", b"secret") && !is_same(b"", b"s"));
    }
}
