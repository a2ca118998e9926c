//! Descriptions of types that only the network knows; tools need them to read such messages.
//!
//! The gateway asks once for the description of each network type that this host doesn't keep yet:
//! first the gateways of other Sinew hosts, which answer on a key of their own, then the node that
//! has an endpoint of the type, by ROS 2's service `get_type_description`. An answer is stored
//! beside the domain if it has the type's hash, so its sender needn't be trusted.

use super::change::Change;
use super::services::AGAIN;
use super::shared::Shared;
use crate::wire::attachment::Attachment;
use crate::wire::{gid, key};
use sinew::__private::locks::Mutex;
use sinew::msg::TypeHash;
use sinew::time::Time;
use sinew_interfaces::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescriptionRequest, GetTypeDescriptionResponse,
};
use sinew_msg::description::TypeDescription;
use sinew_msg::{Message, Service};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::query::{ConsolidationMode, Query, QueryTarget, Queryable, Reply};

/// The key below which Sinew's gateways describe types. (No wildcard of other programs matches it.)
const SPACE: &str = "@sinew";

/// Longest wait for an answer.
const LONGEST: Duration = Duration::from_secs(10);

/// Limit of types that are asked for at the same time: every type that a peer announces takes
/// memory here.
const MOST: usize = 256;

/// Largest accepted description, in bytes.
const LARGEST: usize = 1 << 20;

/// Answers other gateways, and asks for descriptions that this host lacks.
pub(super) struct Descriptions {
    /// Types that were asked for and not answered yet.
    asked: Arc<Mutex<HashSet<TypeHash>>>,
    _answering: Queryable<()>,
}

impl Descriptions {
    pub(super) fn open(shared: &Arc<Shared>) -> zenoh::Result<Self> {
        let answering = shared.clone();
        let queryable = shared
            .session
            .declare_queryable(format!("{SPACE}/{}/type/*", shared.context.domain()))
            .callback(move |query| answer(&answering, &query))
            .wait()?;
        Ok(Self { asked: Arc::default(), _answering: queryable })
    }

    /// Asks for the description of a type, if this host lacks it. `node`: the full name, on the
    /// network, of a node that uses the type.
    pub(super) fn want(&self, shared: &Arc<Shared>, type_name: &str, hash: TypeHash, node: String) {
        if !matches!(shared.place.description(&hash.0), Ok(None)) {
            return;
        }
        let mut asked = self.asked.lock();
        if asked.len() >= MOST || !asked.insert(hash) {
            return; // it is asked for again with the type's next endpoint
        }
        drop(asked);
        let wanted = Wanted {
            type_name: type_name.to_owned(),
            hash,
            node,
            shared: shared.clone(),
            asked: self.asked.clone(),
        };
        ask(Question { wanted: Some(wanted), attempt: None });
    }
}

/// Describes a type to another gateway.
fn answer(shared: &Shared, query: &Query) {
    let hash = query.key_expr().as_str().rsplit('/').next().and_then(|hash| hash.parse().ok());
    let known = hash.and_then(|hash: TypeHash| shared.place.description(&hash.0).ok().flatten());
    // Without a reply the query ends as one without an answer.
    if let Some(text) = known {
        let _ = query.reply(query.key_expr().clone(), text).wait(); // fails if the session closes
    }
}

/// A type that needs a description. Once dropped, it may be asked for again.
struct Wanted {
    type_name: String,
    hash: TypeHash,
    node: String,
    shared: Arc<Shared>,
    asked: Arc<Mutex<HashSet<TypeHash>>>,
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.asked.lock().remove(&self.hash);
    }
}

impl Wanted {
    /// Stores the description if it is the right one, and returns whether it is.
    fn keep(&self, description: &TypeDescription) -> bool {
        let is_right = description.hash() == self.hash;
        if is_right
            && let Err(error) = self.shared.place.keep_description(&self.hash.0, &description.to_json())
        {
            let name = &self.type_name;
            self.shared
                .says_once("description", || format!("the description of {name} can't be kept: {error}"));
        }
        is_right
    }

    /// Returns the request for the node that uses the type.
    fn request(&self) -> GetTypeDescriptionRequest {
        GetTypeDescriptionRequest {
            type_name: self.type_name.clone(),
            type_hash: self.hash.to_string(),
            include_type_sources: false,
        }
    }

    /// Returns the key of that node's service.
    fn service(&self) -> Option<String> {
        let service = GetTypeDescription::TYPE?;
        let name = format!("{}/get_type_description", self.node);
        key::of(self.shared.context.domain(), &name, service.name, service.hash)
    }
}

/// A query for a description; zenoh drops it when no more replies come.
struct Question {
    /// `None` once it is answered.
    wanted: Option<Wanted>,
    /// Number of queries to the node; `None` while other gateways are asked.
    attempt: Option<usize>,
}

fn ask(question: Question) {
    let Some(wanted) = &question.wanted else { return };
    let shared = wanted.shared.clone();
    let session = &shared.session;
    let query = match question.attempt {
        None => session.get(format!("{SPACE}/{}/type/{}", shared.context.domain(), wanted.hash)),
        Some(attempt) => {
            let (Some(service), Some(encoding)) = (wanted.service(), GetTypeDescriptionRequest::ENCODING)
            else {
                return;
            };
            let request = wanted.request();
            let mut encoded = vec![0; (encoding.size)(&request)];
            (encoding.encode)(&request, &mut encoded);
            let sequence = i64::try_from(attempt).unwrap_or(0) + 1;
            let gid = gid::of(&format!("{}/{service}", session.zid()));
            let attachment = Attachment { sequence, time: shared.wall(), gid, chain: None };
            let query = session.get(service).payload(encoded).target(QueryTarget::AllComplete);
            query.attachment(ZBytes::from(attachment.to_bytes()))
        }
    };
    let question = Mutex::new(question);
    let asked = query
        .consolidation(ConsolidationMode::None)
        .timeout(LONGEST)
        .callback(move |reply| question.lock().heard(&reply))
        .wait();
    // On an error, the question has been dropped with its callback, which has handled it.
    drop(asked);
}

impl Question {
    fn heard(&mut self, reply: &Reply) {
        let (Some(wanted), Ok(sample)) = (&self.wanted, reply.result()) else { return };
        if sample.payload().len() > LARGEST {
            return;
        }
        let payload = sample.payload().to_bytes();
        let description = match self.attempt {
            None => std::str::from_utf8(&payload).ok().and_then(TypeDescription::from_json),
            Some(_) => GetTypeDescriptionResponse::ENCODING
                .and_then(|encoding| (encoding.decode)(&payload).ok())
                .filter(|response| response.successful)
                .map(|response| TypeDescription::from(&response.type_description)),
        };
        if description.is_some_and(|description| wanted.keep(&description)) {
            self.wanted = None;
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let Some(wanted) = self.wanted.take() else { return };
        let (pause, attempt) = match self.attempt {
            None => (Duration::ZERO, 0),
            Some(attempt) => match AGAIN.get(attempt) {
                Some(pause) => (*pause, attempt + 1),
                None => return,
            },
        };
        let shared = wanted.shared.clone();
        let question = Self { wanted: Some(wanted), attempt: Some(attempt) };
        shared.tell(Change::Later(Time::steady() + pause, Box::new(|| ask(question))));
    }
}
