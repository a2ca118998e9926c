//! The protocol's frames: texts are JSON objects with the member `op`, binary frames begin with an
//! op byte and are little endian. The names are those of `foxglove.sdk.v1`, and of its forerunner
//! `foxglove.websocket.v1`, which has the same frames.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The subprotocols that are spoken here.
pub(crate) const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

/// The encoding of messages, requests and responses.
pub(crate) const CDR: &str = "cdr";
/// Another encoding of messages and requests of clients.
pub(crate) const JSON: &str = "json";

/// Length of a name in a client's request: of a parameter, a topic, a type or an encoding. In
/// bytes, as the other lengths.
const MAX_NAME: usize = 512;

/// Length of a client's id of a request, which its answer has.
const MAX_ID: usize = 256;

/// Length of a file's URI.
const MAX_URI: usize = 4096;

/// Length of a text. Reading it takes a multiple of its length, as its `op` may stand at the end.
const MAX_TEXT: usize = 1 << 20;

// ---- the server's texts ----

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum ServerText<'a> {
    ServerInfo {
        name: &'a str,
        capabilities: Vec<&'static str>,
        supported_encodings: Vec<&'static str>,
        metadata: BTreeMap<&'static str, String>,
        session_id: &'a str,
        /// The first and the last time of a bag that is played.
        #[serde(skip_serializing_if = "Option::is_none")]
        data_start_time: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        data_end_time: Option<Timestamp>,
    },
    Status {
        level: Level,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
    },
    RemoveStatus {
        status_ids: Vec<String>,
    },
    Advertise {
        channels: Vec<AdvertisedChannel<'a>>,
    },
    Unadvertise {
        channel_ids: &'a [u32],
    },
    AdvertiseServices {
        services: Vec<AdvertisedService<'a>>,
    },
    UnadvertiseServices {
        service_ids: &'a [u32],
    },
    ParameterValues {
        parameters: Vec<Parameter>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    ConnectionGraphUpdate {
        published_topics: Vec<Published<'a>>,
        subscribed_topics: Vec<Subscribed<'a>>,
        advertised_services: Vec<Provided<'a>>,
        removed_topics: Vec<&'a str>,
        removed_services: Vec<&'a str>,
    },
    ServiceCallFailure {
        service_id: u32,
        call_id: u32,
        message: &'a str,
    },
}

impl ServerText<'_> {
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() // maps have texts as keys, so nothing fails
    }
}

/// A time in a text.
#[derive(Serialize)]
pub(crate) struct Timestamp {
    sec: u64,
    nsec: u64,
}

impl Timestamp {
    /// Returns a time in nanoseconds since the epoch.
    pub(crate) fn of(time: u64) -> Self {
        Self { sec: time / 1_000_000_000, nsec: time % 1_000_000_000 }
    }
}

/// The level of a status, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Warning,
    Error,
}

impl Serialize for Level {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(match self {
            Self::Warning => 1,
            Self::Error => 2,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdvertisedChannel<'a> {
    pub(crate) id: u32,
    pub(crate) topic: &'a str,
    pub(crate) encoding: &'static str,
    pub(crate) schema_name: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) schema_encoding: &'a str,
}

#[derive(Serialize)]
pub(crate) struct AdvertisedService<'a> {
    pub(crate) id: u32,
    pub(crate) name: &'a str,
    #[serde(rename = "type")]
    pub(crate) type_name: &'a str,
    pub(crate) request: ServicePart<'a>,
    pub(crate) response: ServicePart<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServicePart<'a> {
    pub(crate) encoding: &'static str,
    pub(crate) schema_name: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) schema_encoding: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Published<'a> {
    pub(crate) name: &'a str,
    pub(crate) publisher_ids: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Subscribed<'a> {
    pub(crate) name: &'a str,
    pub(crate) subscriber_ids: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Provided<'a> {
    pub(crate) name: &'a str,
    pub(crate) provider_ids: Vec<&'a str>,
}

/// A parameter, named `/node.parameter`. Without a value it has none, or is to lose it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// A type that JSON doesn't tell apart: `byte_array`, `float64`, `float64_array`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
}

// ---- the server's binary frames, or their heads ----

/// The head of a message's frame.
pub(crate) fn message_head(subscription: u32, log_time: u64) -> [u8; 13] {
    let mut head = [0; 13];
    head[0] = 1;
    head[1..5].copy_from_slice(&subscription.to_le_bytes());
    head[5..].copy_from_slice(&log_time.to_le_bytes());
    head
}

/// A frame with the simulated time, or that of a bag.
pub(crate) fn time(time: u64) -> Vec<u8> {
    let mut frame = vec![2];
    frame.extend_from_slice(&time.to_le_bytes());
    frame
}

/// A frame with a service's response.
pub(crate) fn response(service: u32, call: u32, encoding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![3];
    frame.extend_from_slice(&service.to_le_bytes());
    frame.extend_from_slice(&call.to_le_bytes());
    frame.extend_from_slice(&length_of(encoding.as_bytes()));
    frame.extend_from_slice(encoding.as_bytes());
    frame.extend_from_slice(bytes);
    frame
}

/// A frame with a file, or the reason why it can't be had.
pub(crate) fn asset(request: u32, found: Result<&[u8], &str>) -> Vec<u8> {
    let mut frame = vec![4];
    frame.extend_from_slice(&request.to_le_bytes());
    match found {
        Ok(data) => {
            frame.extend_from_slice(&[0; 5]);
            frame.extend_from_slice(data);
        }
        Err(problem) => {
            frame.push(1);
            frame.extend_from_slice(&length_of(problem.as_bytes()));
            frame.extend_from_slice(problem.as_bytes());
        }
    }
    frame
}

/// The state of a bag that is played.
#[derive(Debug)]
pub(crate) struct PlaybackState<'a> {
    pub(crate) status: PlaybackStatus,
    /// The time of the bag, in nanoseconds since the epoch.
    pub(crate) time: u64,
    pub(crate) rate: f32,
    /// Viewers then forget messages of before.
    pub(crate) did_seek: bool,
    /// The request that this answers; empty: none.
    pub(crate) request: &'a str,
}

/// The protocol has a further one, 2, for a player that waits for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaybackStatus {
    Playing = 0,
    Paused = 1,
    Ended = 3,
}

/// A frame with the state of a bag that is played.
pub(crate) fn playback_state(state: &PlaybackState<'_>) -> Vec<u8> {
    let PlaybackState { status, time, rate, did_seek, request } = *state;
    let mut frame = vec![5, status as u8];
    frame.extend_from_slice(&time.to_le_bytes());
    frame.extend_from_slice(&rate.to_le_bytes());
    frame.push(did_seek.into());
    frame.extend_from_slice(&length_of(request.as_bytes()));
    frame.extend_from_slice(request.as_bytes());
    frame
}

/// Returns the length of a text of ours. It has at most a client's id or URI in it, which are
/// limited.
fn length_of(text: &[u8]) -> [u8; 4] {
    u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes()
}

// ---- the client's frames ----

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum ClientText {
    Subscribe {
        subscriptions: Vec<WantedSubscription>,
    },
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    Advertise {
        channels: Vec<ClientChannel>,
    },
    Unadvertise {
        channel_ids: Vec<u32>,
    },
    GetParameters {
        parameter_names: Vec<String>,
        #[serde(default)]
        id: Option<String>,
    },
    SetParameters {
        parameters: Vec<Parameter>,
        #[serde(default)]
        id: Option<String>,
    },
    SubscribeParameterUpdates {
        parameter_names: Vec<String>,
    },
    UnsubscribeParameterUpdates {
        parameter_names: Vec<String>,
    },
    SubscribeConnectionGraph {},
    UnsubscribeConnectionGraph {},
    FetchAsset {
        request_id: u32,
        uri: String,
    },
}

impl ClientText {
    /// # Errors
    /// The problem as a sentence: it can't be read, or is longer than something here may be.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        limit("a text", text.len(), MAX_TEXT)?;
        let request =
            serde_json::from_slice(text).map_err(|error| format!("a text can't be read: {error}"))?;
        match &request {
            Self::GetParameters { parameter_names, id } => {
                limit_names(parameter_names)?;
                limit_id(id.as_deref())?;
            }
            Self::SetParameters { parameters, id } => {
                limit_names(parameters.iter().map(|parameter| &parameter.name))?;
                limit_id(id.as_deref())?;
            }
            Self::SubscribeParameterUpdates { parameter_names } => limit_names(parameter_names)?,
            Self::Advertise { channels } => {
                for ClientChannel { topic, encoding, schema_name, .. } in channels {
                    limit_names([topic, encoding, schema_name])?;
                }
            }
            Self::FetchAsset { uri, .. } => limit("a URI", uri.len(), MAX_URI)?,
            // They have only numbers, or names that are looked up and not kept.
            Self::Subscribe { .. }
            | Self::Unsubscribe { .. }
            | Self::Unadvertise { .. }
            | Self::UnsubscribeParameterUpdates { .. }
            | Self::SubscribeConnectionGraph {}
            | Self::UnsubscribeConnectionGraph {} => {}
        }
        Ok(request)
    }
}

fn limit_names<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    names.into_iter().try_for_each(|name| limit("a name", name.len(), MAX_NAME))
}

fn limit_id(id: Option<&str>) -> Result<(), String> {
    limit("a request's id", id.map_or(0, str::len), MAX_ID)
}

fn limit(part: &str, length: usize, most: usize) -> Result<(), String> {
    match length <= most {
        true => Ok(()),
        false => Err(format!("{part} has {length} bytes: at most {most} are allowed")),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WantedSubscription {
    pub(crate) id: u32,
    pub(crate) channel_id: u32,
}

/// A channel on which a client publishes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientChannel {
    pub(crate) id: u32,
    pub(crate) topic: String,
    pub(crate) encoding: String,
    pub(crate) schema_name: String,
}

/// A client's binary frame.
#[derive(Debug, PartialEq)]
pub(crate) enum ClientBinary<'a> {
    Control(PlaybackCommand<'a>),
    Publish { channel: u32, bytes: &'a [u8] },
    Call { service: u32, call: u32, encoding: &'a str, bytes: &'a [u8] },
}

/// A client's command for the bag that is played.
#[derive(Debug, PartialEq)]
pub(crate) struct PlaybackCommand<'a> {
    pub(crate) is_paused: bool,
    pub(crate) rate: f32,
    /// The time to go to, in nanoseconds since the epoch.
    pub(crate) seek: Option<u64>,
    /// The client's id of the request.
    pub(crate) request: &'a str,
}

impl<'a> PlaybackCommand<'a> {
    fn parse(frame: &'a [u8]) -> Result<Self, String> {
        let short = "a binary frame is too short";
        let (&[command, r0, r1, r2, r3, has_seek], rest) = frame.split_first_chunk().ok_or(short)?;
        let (seek, rest) = rest.split_first_chunk().ok_or(short)?;
        let (length, rest) = rest.split_first_chunk().ok_or(short)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let request = rest.get(..length).ok_or(short)?;
        limit("a request's id", length, MAX_ID)?;
        let is_paused = match command {
            0 => false,
            1 => true,
            _ => return Err(format!("there is no command {command} for playback")),
        };
        Ok(Self {
            is_paused,
            rate: f32::from_le_bytes([r0, r1, r2, r3]),
            seek: (has_seek != 0).then_some(u64::from_le_bytes(*seek)),
            request: std::str::from_utf8(request).map_err(|_| "a request's id is no UTF-8")?,
        })
    }
}

impl<'a> ClientBinary<'a> {
    /// # Errors
    /// The problem as a sentence.
    pub(crate) fn parse(frame: &'a [u8]) -> Result<Self, String> {
        let short = |rest: &'a [u8]| rest.split_first_chunk::<4>().ok_or("a binary frame is too short");
        let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        match frame.split_first() {
            Some((1, rest)) => {
                let (channel, bytes) = short(rest)?;
                Ok(Self::Publish { channel: number(channel), bytes })
            }
            Some((2, rest)) => {
                let (service, rest) = short(rest)?;
                let (call, rest) = short(rest)?;
                let (length, rest) = short(rest)?;
                let length = usize::try_from(number(length)).unwrap_or(usize::MAX);
                let (encoding, bytes) = rest.split_at_checked(length).ok_or("a binary frame is too short")?;
                limit("a name", length, MAX_NAME)?;
                let encoding = std::str::from_utf8(encoding).map_err(|_| "an encoding is no UTF-8")?;
                Ok(Self::Call { service: number(service), call: number(call), encoding, bytes })
            }
            Some((3, rest)) => PlaybackCommand::parse(rest).map(Self::Control),
            Some((op, _)) => Err(format!("there is no binary frame with the op {op} here")),
            None => Err("a binary frame is empty".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn frames_of_clients_are_taken_apart() {
        let publish = ClientBinary::parse(&[1, 7, 0, 0, 0, 42]).unwrap();
        assert_eq!(publish, ClientBinary::Publish { channel: 7, bytes: &[42] });
        let call =
            ClientBinary::parse(&[2, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, b'c', b'd', b'r', 9]).unwrap();
        assert_eq!(call, ClientBinary::Call { service: 1, call: 2, encoding: "cdr", bytes: &[9] });
        let frame = [3, 1, 0, 0, 0x80, 0x3f, 1, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'a'];
        let command = PlaybackCommand { is_paused: true, rate: 1.0, seek: Some(7), request: "a" };
        assert_eq!(ClientBinary::parse(&frame), Ok(ClientBinary::Control(command)));
        let short = [
            &[][..],
            &[1, 2],
            &[2, 1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255, 1],
            &[2, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0xff],
            &[9],
            &[3, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a'],
            &[3, 2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ];
        for frame in short {
            assert!(ClientBinary::parse(frame).is_err(), "{frame:?}");
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_not_read() {
        let text = vec![b'['; MAX_TEXT + 1];
        let problem = ClientText::parse(&text).unwrap_err();
        assert_eq!(problem, "a text has 1048577 bytes: at most 1048576 are allowed");
        assert!(ClientText::parse(&text[1..]).unwrap_err().contains("can't be read"));
    }

    #[test]
    fn what_is_kept_of_clients_is_limited() {
        let text = |length| "a".repeat(length);
        let channel = |topic, schema_name, encoding| {
            let channel = json!({"id": 1, "topic": topic, "schemaName": schema_name, "encoding": encoding});
            json!({"op": "advertise", "channels": [channel]})
        };
        let get = |name, id| json!({"op": "getParameters", "parameterNames": [name], "id": id});
        let set = |name, id, value| {
            let parameter = json!({"name": name, "value": value});
            json!({"op": "setParameters", "parameters": [parameter], "id": id})
        };
        let watch = |names| json!({"op": "subscribeParameterUpdates", "parameterNames": names});
        let fetch = |uri| json!({"op": "fetchAsset", "requestId": 1, "uri": uri});
        let parse = |request: &Value| ClientText::parse(request.to_string().as_bytes());
        for request in [
            get(text(512), text(256)),
            set(text(512), text(256), text(1_000_000)),
            watch(vec![text(512); 2000]),
            channel(text(512), text(512), text(512)),
            fetch(text(4096)),
        ] {
            assert!(parse(&request).is_ok());
        }
        for (request, most) in [
            (get(text(513), text(1)), "a name has 513 bytes: at most 512"),
            (get(text(1), text(257)), "a request's id has 257 bytes: at most 256"),
            (set(text(513), text(1), text(1)), "at most 512"),
            (set(text(1), text(257), text(1)), "at most 256"),
            (set(text(1), text(1), text(1 << 20)), "at most 1048576"),
            (json!({"op": "getParameters", "parameterNames": vec![text(512); 2050]}), "at most 1048576"),
            (watch(vec![text(512); 2050]), "at most 1048576"),
            (watch(vec![text(1), text(513)]), "at most 512"),
            (channel(text(513), text(1), text(1)), "at most 512"),
            (channel(text(1), text(513), text(1)), "at most 512"),
            (channel(text(1), text(1), text(513)), "at most 512"),
            (fetch(text(4097)), "at most 4096"),
        ] {
            let problem = parse(&request).unwrap_err();
            assert!(problem.contains(most), "{problem}");
        }

        let control = |length: u16| {
            let head = [3, 1, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            [&head[..], &u32::from(length).to_le_bytes(), text(length.into()).as_bytes()].concat()
        };
        assert!(ClientBinary::parse(&control(256)).is_ok());
        assert!(ClientBinary::parse(&control(257)).unwrap_err().contains("at most 256"));
        let call = |length: u16| {
            let head = [2, 1, 0, 0, 0, 2, 0, 0, 0];
            [&head[..], &u32::from(length).to_le_bytes(), text(length.into()).as_bytes()].concat()
        };
        assert!(ClientBinary::parse(&call(512)).is_ok());
        assert!(ClientBinary::parse(&call(513)).unwrap_err().contains("at most 512"));
    }

    #[test]
    fn states_of_playback_are_put_together() {
        let state = PlaybackState {
            status: PlaybackStatus::Ended,
            time: 9,
            rate: 1.0,
            did_seek: true,
            request: "ab",
        };
        let frame = [5, 3, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 1, 2, 0, 0, 0, b'a', b'b'];
        assert_eq!(playback_state(&state), frame);
    }

    #[test]
    fn texts_begin_with_their_op() {
        let text = ServerText::Status { level: Level::Error, message: "no", id: None }.to_json();
        assert_eq!(text, r#"{"op":"status","level":2,"message":"no"}"#);
        let text = ServerText::Unadvertise { channel_ids: &[3] }.to_json();
        assert_eq!(text, r#"{"op":"unadvertise","channelIds":[3]}"#);
    }

    #[test]
    fn texts_of_clients_are_read() {
        let text = r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":2}],"more":0}"#;
        let ClientText::Subscribe { subscriptions } = serde_json::from_str(text).unwrap() else { panic!() };
        assert_eq!((subscriptions[0].id, subscriptions[0].channel_id), (1, 2));
        let text = r#"{"op":"subscribeConnectionGraph"}"#;
        assert!(matches!(serde_json::from_str(text).unwrap(), ClientText::SubscribeConnectionGraph {}));
        assert!(serde_json::from_str::<ClientText>(r#"{"op":"dance"}"#).is_err());
    }
}
