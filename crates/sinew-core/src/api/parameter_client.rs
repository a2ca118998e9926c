//! The parameters of other nodes.

use super::call::PendingCall;
use super::client::{Client, ClientBuilder};
use super::node::NodeCore;
use super::parameters::convert::{descriptor_of_msg, named_to_msg, value_of_msg};
use super::parameters::services::EVENTS;
use super::subscription::SubscriptionBuilder;
use crate::executor::group::{CallbackGroup, Group};
use crate::parameters::descriptor::ParameterDescriptor;
use crate::parameters::value::{NamedValue, ParameterType, ParameterValue};
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::error::CallError;
use crate::service::failure::CallFailure;
use crate::sys::says::debug_says;
use crate::sys::sync::Arc;
use sinew_interfaces::rcl_interfaces::{msg, srv};
use sinew_msg::{Message, Service};
use std::fmt;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Duration;

debug_says!(ParameterClientError:
    NoSuchNode { node, waited }, Timeout { node, waited }, NotDeclared { node, names }, Refused { node, reason },
    Nonsense { node, what }, Call { node, failure }, Create(error));

/// The reason why the parameters of another node could not be read or set.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterClientError {
    /// No node of that name serves its parameters.
    #[error(
        "no node {node} has served its parameters within {waited:?}: check its name, whether it runs, and whether it is to serve them (start_parameter_services)"
    )]
    NoSuchNode {
        /// The node's full name.
        node: String,
        /// The timeout.
        waited: Duration,
    },
    /// The node didn't answer in time. The request to set parameters may still succeed.
    #[error(
        "node {node} didn't answer within {waited:?}: does something there hold up its callbacks for parameters?"
    )]
    Timeout {
        /// The node's full name.
        node: String,
        /// The timeout.
        waited: Duration,
    },
    /// At least one of the parameters isn't declared there, or has no value.
    #[error("one of these parameters isn't declared by node {node}, or has no value: {}", .names.join(", "))]
    NotDeclared {
        /// The node's full name.
        node: String,
        /// All requested names: the node doesn't say which one is missing.
        names: Vec<String>,
    },
    /// The node refuses to set the parameters.
    #[error("node {node} doesn't set them: {reason}")]
    Refused {
        /// The node's full name.
        node: String,
        /// The node's reason.
        reason: String,
    },
    /// The node's answer is malformed.
    #[error("the answer of node {node} makes no sense: {what}")]
    Nonsense {
        /// The node's full name.
        node: String,
        /// The malformed part.
        what: String,
    },
    /// The call failed for another reason.
    #[error("the parameters of node {node} can't be reached: {failure}")]
    Call {
        /// The node's full name.
        node: String,
        /// The reason.
        failure: CallFailure,
    },
    /// The client can't be created.
    #[error(transparent)]
    Create(#[from] CreateError),
}

/// The parameters of another node, in this process or another.
///
/// Made by [`Node::parameter_client`](crate::Node::parameter_client), or by a group. Each method
/// returns a [`ParameterCall`]: a thread waits for it, or a task awaits it.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::parameters::{NamedValue, ParameterValue};
/// let context = Context::new()?;
/// let camera = context.node("camera")?;
/// let rate = camera.parameter("rate").default(30).create()?;
///
/// let client = context.node("tool")?.parameter_client("/camera");
/// let second = Duration::from_secs(1);
/// assert_eq!(client.get(["rate"]).wait(second)?, [ParameterValue::Integer(30)]);
/// client.set_atomically([NamedValue::new("rate", 60)]).wait(second)?;
/// assert_eq!(rate.get(), 60);
/// let refused = client.set_one("rate", "fast").wait(second).unwrap_err();
/// assert!(refused.to_string().contains("is of type integer"));
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct ParameterClient<G = Group> {
    /// A group of the asking node.
    group: G,
    /// The other node's name.
    of: Arc<str>,
    get: OnceLock<Client<srv::GetParameters>>,
    types: OnceLock<Client<srv::GetParameterTypes>>,
    set: OnceLock<Client<srv::SetParameters>>,
    set_atomically: OnceLock<Client<srv::SetParametersAtomically>>,
    list: OnceLock<Client<srv::ListParameters>>,
    describe: OnceLock<Client<srv::DescribeParameters>>,
}

/// Names of parameters, as a node lists them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParameterNames {
    /// The parameters' names.
    pub names: Vec<String>,
    /// The parts before the last dot of names that have one, each once.
    pub prefixes: Vec<String>,
}

impl<G: CallbackGroup> ParameterClient<G> {
    pub(super) fn new(group: &G, of: &str) -> Self {
        let of = match of.starts_with('/') {
            true => of.into(),
            false => {
                let node = NodeCore::of(group.core());
                format!("{}/{of}", node.namespace.trim_end_matches('/')).into()
            }
        };
        Self {
            group: group.clone(),
            of,
            get: OnceLock::new(),
            types: OnceLock::new(),
            set: OnceLock::new(),
            set_atomically: OnceLock::new(),
            list: OnceLock::new(),
            describe: OnceLock::new(),
        }
    }

    /// Returns the name of the node that has the parameters.
    pub fn node_name(&self) -> &str {
        &self.of
    }

    /// Reads the values of parameters, in the order of the names: of all of them, or of none if one
    /// isn't declared.
    pub fn get(
        &self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> ParameterCall<Vec<ParameterValue>> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (of, asked) = (self.of.clone(), names.clone());
        let request = srv::GetParametersRequest { names };
        self.ask(&self.get, "get_parameters", request, move |response| {
            let values = response.values.into_iter().map(value_of_msg).collect::<Option<Vec<_>>>();
            complete(values.ok_or_else(|| nonsense(&of, "a value is of an unknown type")), asked, &of)
        })
    }

    /// Reads the types of parameters; otherwise as [`get`](Self::get).
    pub fn types(
        &self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> ParameterCall<Vec<ParameterType>> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (of, asked) = (self.of.clone(), names.clone());
        let request = srv::GetParameterTypesRequest { names };
        self.ask(&self.types, "get_parameter_types", request, move |response| {
            let types =
                response.types.into_iter().map(ParameterType::from_number).collect::<Option<Vec<_>>>();
            complete(types.ok_or_else(|| nonsense(&of, "a type is unknown")), asked, &of)
        })
    }

    /// Reads the descriptions of parameters; otherwise as [`get`](Self::get).
    pub fn describe(
        &self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> ParameterCall<Vec<ParameterDescriptor>> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (of, asked) = (self.of.clone(), names.clone());
        let request = srv::DescribeParametersRequest { names };
        self.ask(&self.describe, "describe_parameters", request, move |response| {
            let described = response.descriptors.into_iter().map(descriptor_of_msg).collect();
            complete(Ok(described), asked, &of)
        })
    }

    /// Sets parameters one after the other, each with an event of its own. Returns for each whether
    /// it is set, or the reason why not.
    pub fn set(
        &self,
        values: impl IntoIterator<Item = NamedValue>,
    ) -> ParameterCall<Vec<Result<(), String>>> {
        let parameters: Vec<_> = values.into_iter().map(|one| named_to_msg(&one)).collect();
        let (of, count) = (self.of.clone(), parameters.len());
        let request = srv::SetParametersRequest { parameters };
        self.ask(&self.set, "set_parameters", request, move |response| {
            if response.results.len() != count {
                let what = format!("{} results for {count} parameters", response.results.len());
                return Err(nonsense(&of, &what));
            }
            let outcome =
                |one: msg::SetParametersResult| if one.successful { Ok(()) } else { Err(one.reason) };
            Ok(response.results.into_iter().map(outcome).collect())
        })
    }

    /// Sets one parameter. A refusal is an error.
    pub fn set_one(&self, name: &str, value: impl Into<ParameterValue>) -> ParameterCall<()> {
        self.set_atomically([NamedValue::new(name, value)])
    }

    /// Sets all of the parameters, or none, with one event. A refusal is an error.
    pub fn set_atomically(&self, values: impl IntoIterator<Item = NamedValue>) -> ParameterCall<()> {
        let parameters = values.into_iter().map(|one| named_to_msg(&one)).collect();
        let of = self.of.clone();
        let request = srv::SetParametersAtomicallyRequest { parameters };
        self.ask(&self.set_atomically, "set_parameters_atomically", request, move |response| {
            match response.result {
                msg::SetParametersResult { successful: true, .. } => Ok(()),
                msg::SetParametersResult { reason, .. } => {
                    Err(ParameterClientError::Refused { node: of.to_string(), reason })
                }
            }
        })
    }

    /// Lists the names of parameters, as [`Node::list_parameters`](crate::Node::list_parameters)
    /// does.
    pub fn list(
        &self,
        prefixes: impl IntoIterator<Item = impl Into<String>>,
        depth: u64,
    ) -> ParameterCall<ParameterNames> {
        let prefixes = prefixes.into_iter().map(Into::into).collect();
        let request = srv::ListParametersRequest { prefixes, depth };
        self.ask(&self.list, "list_parameters", request, move |response| {
            let msg::ListParametersResult { names, prefixes } = response.result;
            Ok(ParameterNames { names, prefixes })
        })
    }

    /// Returns a builder for a subscription to the changes of that node's parameters, in the
    /// group that made this client.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::parameters::ParameterEvent;
    /// let context = Context::new()?;
    /// let camera = context.node("camera")?;
    /// let rate = camera.parameter("rate").default(30).create()?;
    /// let client = context.node("tool")?.parameter_client("/camera");
    /// let events = client.events().create()?;
    /// rate.set(60)?;
    /// let (event, _) = events.take().unwrap();
    /// assert_eq!((event.changed_parameters[0].name.as_str(), event.changed_parameters.len()), ("rate", 1));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn events(&self) -> SubscriptionBuilder<msg::ParameterEvent, G> {
        let of = self.of.clone();
        let events = SubscriptionBuilder::new(&self.group, EVENTS).qos(QoS::parameter_events());
        events.filter(move |event: &msg::ParameterEvent| *event.node == *of)
    }

    fn ask<S: Service, T: 'static>(
        &self,
        cell: &OnceLock<Client<S>>,
        service: &str,
        request: S::Request,
        read: impl FnOnce(S::Response) -> Result<T, ParameterClientError> + Send + 'static,
    ) -> ParameterCall<T> {
        let client = match cell.get() {
            Some(client) => Ok(client.clone()),
            None => {
                let client = ClientBuilder::new(&self.group, &format!("{}/{service}", self.of)).create();
                // If another thread was faster, its client serves as well.
                client.map(|client| cell.get_or_init(|| client.without_state()).clone())
            }
        };
        let asked = Asked::<S, _> {
            of: self.of.clone(),
            request: Some(request),
            pending: None,
            read: Some(read),
            client,
        };
        ParameterCall(Box::new(asked))
    }
}

impl<G> fmt::Debug for ParameterClient<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParameterClient({})", self.of)
    }
}

fn nonsense(node: &str, what: &str) -> ParameterClientError {
    ParameterClientError::Nonsense { node: node.to_owned(), what: what.to_owned() }
}

/// Checks that there is an answer for each name.
fn complete<T>(
    answers: Result<Vec<T>, ParameterClientError>,
    names: Vec<String>,
    node: &str,
) -> Result<Vec<T>, ParameterClientError> {
    let answers = answers?;
    match answers.len() {
        length if length == names.len() => Ok(answers),
        0 => Err(ParameterClientError::NotDeclared { node: node.to_owned(), names }),
        length => Err(nonsense(node, &format!("{length} answers for {} names", names.len()))),
    }
}

/// A request to another node about its parameters. It is sent when a thread waits for it
/// ([`wait`](Self::wait)) or a task polls it, in any runtime or by
/// [`Executor::spin_until`](crate::Executor::spin_until). A request that is dropped before is never
/// sent.
#[must_use = "nothing is asked before `wait` or `await`"]
pub struct ParameterCall<T>(Box<dyn Ask<T>>);

trait Ask<T>: Send {
    fn wait(&mut self, timeout: Duration) -> Result<T, ParameterClientError>;
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<T, ParameterClientError>>;
}

impl<T> ParameterCall<T> {
    /// Sends the request, and blocks until the answer arrives, for at most `timeout`; as
    /// [`Client::call`].
    ///
    /// # Errors
    /// [`ParameterClientError`].
    ///
    /// # Panics
    /// If the request was polled before: it can be awaited or waited for, not both.
    pub fn wait(mut self, timeout: Duration) -> Result<T, ParameterClientError> {
        self.0.wait(timeout)
    }
}

impl<T> Future for ParameterCall<T> {
    type Output = Result<T, ParameterClientError>;

    /// # Panics
    /// If the request has yielded its result before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context)
    }
}

impl<T> fmt::Debug for ParameterCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParameterCall")
    }
}

struct Asked<S: Service, F> {
    of: Arc<str>,
    client: Result<Client<S>, CreateError>,
    request: Option<S::Request>,
    pending: Option<PendingCall<S>>,
    /// Converts the response.
    read: Option<F>,
}

impl<S: Service, F> Asked<S, F> {
    fn failed<Q: Message>(&self, error: &CallError<Q>) -> ParameterClientError {
        let node = self.of.to_string();
        match *error.failure() {
            CallFailure::NoServer { waited, .. } => ParameterClientError::NoSuchNode { node, waited },
            CallFailure::Timeout { waited, .. } => ParameterClientError::Timeout { node, waited },
            ref failure => ParameterClientError::Call { node, failure: failure.clone() },
        }
    }

    fn finish<T>(&mut self, response: S::Response) -> Result<T, ParameterClientError>
    where
        F: FnOnce(S::Response) -> Result<T, ParameterClientError>,
    {
        #[expect(clippy::expect_used, reason = "documented: it yields once")]
        let read = self.read.take().expect("a call for parameters has yielded its result before");
        read(response)
    }
}

impl<S, T, F> Ask<T> for Asked<S, F>
where
    S: Service,
    F: FnOnce(S::Response) -> Result<T, ParameterClientError> + Send,
{
    fn wait(&mut self, timeout: Duration) -> Result<T, ParameterClientError> {
        let client = self.client.clone()?;
        #[expect(clippy::expect_used, reason = "documented: it isn't polled before")]
        let request = self.request.take().expect("a call for parameters is awaited already");
        let response = client.call(request, timeout).map_err(|error| self.failed(&error))?;
        self.finish(response.into_inner())
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<T, ParameterClientError>> {
        let client = match &self.client {
            Ok(client) => client,
            Err(error) => return Poll::Ready(Err(error.clone().into())),
        };
        if let Some(request) = self.request.take() {
            self.pending = Some(client.call_async(request));
        }
        #[expect(clippy::expect_used, reason = "documented: it yields once")]
        let pending = self.pending.as_mut().expect("a call for parameters has yielded its result before");
        let Poll::Ready(answer) = Pin::new(pending).poll(context) else { return Poll::Pending };
        self.pending = None;
        let response = match answer {
            Ok(response) => response,
            Err(error) => return Poll::Ready(Err(self.failed(&error))),
        };
        Poll::Ready(self.finish(response.into_inner()))
    }
}
