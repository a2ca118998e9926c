//! A viewer: the other end of the protocol, written by its description and not with the server's
//! code.

use serde_json::{Value, json};
use sinew_bag::Schema;
use sinew_msg::dynamic::DynamicMessage;
use sinew_view::ViewServer;
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::HeaderValue;
use tungstenite::{Error, Message, WebSocket};

/// Longer than anything takes that succeeds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pings without another frame after which nothing else comes: a minute.
const PINGS: usize = 12;

pub(crate) struct Viewer {
    pub(crate) socket: WebSocket<TcpStream>,
    /// The first text.
    pub(crate) info: Value,
    /// Texts that were read while another was awaited.
    passed: Vec<Value>,
    pub(crate) subprotocol: String,
}

impl Viewer {
    /// Connects; `query` stands behind the address.
    ///
    /// # Errors
    /// The HTTP status with which the server refuses.
    pub(crate) fn connect(server: &ViewServer, query: &str, subprotocols: &[&str]) -> Result<Self, u16> {
        Self::connect_with(server, query, subprotocols, &[])
    }

    pub(crate) fn connect_with(
        server: &ViewServer,
        query: &str,
        subprotocols: &[&str],
        headers: &[(&'static str, &'static str)],
    ) -> Result<Self, u16> {
        let address = server.address();
        let mut request = format!("ws://{address}/{query}").into_client_request().unwrap();
        if !subprotocols.is_empty() {
            let offered = HeaderValue::from_str(&subprotocols.join(", ")).unwrap();
            request.headers_mut().insert("Sec-WebSocket-Protocol", offered);
        }
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_static(value));
        }
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, response) = match tungstenite::client::client(request, stream) {
            Ok(connected) => connected,
            Err(tungstenite::HandshakeError::Failure(Error::Http(response))) => {
                return Err(response.status().as_u16());
            }
            Err(error) => panic!("{error}"),
        };
        let subprotocol = response.headers()["Sec-WebSocket-Protocol"].to_str().unwrap().to_owned();
        let mut viewer = Self { socket, info: Value::Null, passed: Vec::new(), subprotocol };
        viewer.info = viewer.text("serverInfo");
        Ok(viewer)
    }

    pub(crate) fn send(&mut self, text: Value) {
        self.socket.send(Message::text(text.to_string())).unwrap();
    }

    pub(crate) fn send_binary(&mut self, op: u8, numbers: &[u32], rest: &[u8]) {
        let mut frame = vec![op];
        numbers.iter().for_each(|number| frame.extend_from_slice(&number.to_le_bytes()));
        frame.extend_from_slice(rest);
        self.socket.send(Message::binary(frame)).unwrap();
    }

    /// Returns the next frame; pings are answered.
    pub(crate) fn frame(&mut self) -> Message {
        for _ in 0..PINGS {
            match self.socket.read().unwrap() {
                Message::Ping(_) | Message::Pong(_) => {}
                frame => return frame,
            }
        }
        panic!("nothing but pings came; texts before: {:?}", self.passed);
    }

    /// Returns the next text with this op, whatever comes before it.
    pub(crate) fn text(&mut self, op: &str) -> Value {
        self.text_where(op, |_| true)
    }

    pub(crate) fn text_where(&mut self, op: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let is_it = |text: &Value| text["op"] == op && is_wanted(text);
        if let Some(at) = self.passed.iter().position(is_it) {
            return self.passed.remove(at);
        }
        loop {
            if let Message::Text(text) = self.frame() {
                let text: Value = serde_json::from_str(&text).unwrap();
                if is_it(&text) {
                    return text;
                }
                self.passed.push(text);
            }
        }
    }

    /// Returns the status with these words.
    pub(crate) fn status(&mut self, words: &str) -> Value {
        self.text_where("status", |status| status["message"].as_str().unwrap().contains(words))
    }

    /// Whether a text with these words has come that wasn't awaited, or that offers a topic or
    /// service.
    pub(crate) fn has_passed(&self, words: &str) -> bool {
        self.passed.iter().any(|text| text.to_string().contains(words))
    }

    /// Returns the channel of a topic, once it is offered.
    pub(crate) fn channel(&mut self, topic: &str) -> Value {
        let of = |text: &Value| {
            let channels = text["channels"].as_array().unwrap();
            channels.iter().find(|channel| channel["topic"] == topic).cloned()
        };
        let text = self.text_where("advertise", |text| of(text).is_some());
        self.passed.push(text.clone()); // others may stand in it
        of(&text).unwrap()
    }

    /// Returns the service of a name, once it is offered.
    pub(crate) fn service(&mut self, name: &str) -> Value {
        let of = |text: &Value| {
            let services = text["services"].as_array().unwrap();
            services.iter().find(|service| service["name"] == name).cloned()
        };
        let text = self.text_where("advertiseServices", |text| of(text).is_some());
        self.passed.push(text.clone());
        of(&text).unwrap()
    }

    pub(crate) fn subscribe(&mut self, id: u32, channel: &Value) {
        let subscriptions = json!([{ "id": id, "channelId": channel["id"] }]);
        self.send(json!({ "op": "subscribe", "subscriptions": subscriptions }));
    }

    /// Returns the subscription, the log time and the bytes of the next message.
    pub(crate) fn message(&mut self) -> (u32, u64, Vec<u8>) {
        let frame = self.binary(1);
        let id = u32::from_le_bytes(frame[1..5].try_into().unwrap());
        let time = u64::from_le_bytes(frame[5..13].try_into().unwrap());
        (id, time, frame[13..].to_vec())
    }

    /// Returns the next binary frame with this op.
    pub(crate) fn binary(&mut self, op: u8) -> Vec<u8> {
        loop {
            let frame = self.any_binary();
            if frame[0] == op {
                return frame;
            }
        }
    }

    /// Returns the next binary frame.
    pub(crate) fn any_binary(&mut self) -> Vec<u8> {
        loop {
            match self.frame() {
                Message::Binary(bytes) => return bytes.to_vec(),
                Message::Text(text) => self.passed.push(serde_json::from_str(&text).unwrap()),
                _ => {}
            }
        }
    }

    /// Waits until the server has done all that was asked so far by frames.
    pub(crate) fn settle(&mut self) {
        let text = json!({ "op": "subscribe", "subscriptions": [{ "id": 999, "channelId": 999_999 }] });
        self.send(text);
        self.status("there is no channel 999999");
    }

    /// Reads until the server ends the connection; returns the code of its close frame.
    pub(crate) fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}

/// Decodes a message by the schema of its channel, and returns it as JSON.
pub(crate) fn decoded(channel: &Value, bytes: &[u8]) -> Value {
    let text = |member: &str| channel[member].as_str().unwrap().to_owned();
    let schema = Schema { encoding: text("schemaEncoding"), text: text("schema") };
    let message_type = schema.message_type(&text("schemaName")).unwrap();
    serde_json::from_str(&DynamicMessage::decode(&message_type, bytes).unwrap().to_json()).unwrap()
}
