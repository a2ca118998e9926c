//! `sinew action list|info|send_goal`. An action is recognized by its feedback topic, as in `ros2`.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use sinew::error::{CallFailure, CreateError};
use sinew::graph::{EndpointKind, GraphSnapshot, NameAndTypes};
use sinew::msg::{GenericType, SerializedMessage};
use sinew::service::GenericService;
use sinew::{Client, Context, Node, QoS, Subscription};
use sinew_interfaces::action_msgs::msg::GoalInfo;
use sinew_interfaces::action_msgs::srv::{CancelGoal, CancelGoalRequest};
use sinew_interfaces::unique_identifier_msgs::msg::UUID;
use sinew_msg::TypeHash;
use sinew_msg::cdr::HEADER_SIZE;
use sinew_msg::definition::TypeName;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_shm::Domain;

use super::template::{self, message_of};
use super::values::written;
use crate::cli::interfaces::SendGoalOptions;
use crate::cli::tools::{InfoOptions, TypedListOptions};
use crate::error::{CallError, Error};
use crate::interfaces::{PackageSources, Types, name};
use crate::observed::Observed;
use crate::output::{print, print_json, says};
use crate::similar::{self, suggestion};
use crate::terminal;
use sinew_bench::clock::{nanoseconds, now_ns};

const FEEDBACK: &str = "/_action/feedback";

/// Longest time for which an ended goal waits for a thread that is reading feedback.
const READING: Duration = Duration::from_secs(1);

/// Period of looking for a server.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the numbers of servers and clients, which publish feedback and subscribe to it.
fn counts(seen: &GraphSnapshot, action: &str) -> [usize; 2] {
    let feedback = format!("{action}{FEEDBACK}");
    [seen.publishers(&feedback).count(), seen.subscriptions(&feedback).count()]
}

/// Runs the equivalent of `ros2 action list`.
pub(super) fn list(options: &TypedListOptions) -> Result<(), Error> {
    let seen = Observed::open(&options.list.place)?.read()?;
    let mut all = seen.actions();
    all.retain(|action| options.list.all || !action.is_hidden());
    if options.list.count {
        return print(&format!("{}\n", all.len())); // as JSON, it is the same
    }
    if options.list.json {
        let one = |NameAndTypes { name, types, .. }: &NameAndTypes| {
            let [servers, clients] = counts(&seen, name);
            json!({"name": name, "types": types, "servers": servers, "clients": clients})
        };
        return print_json(&all.iter().map(one).collect::<Vec<Value>>());
    }
    let mut text = String::new();
    for NameAndTypes { name, types, .. } in &all {
        let types = if options.show_types { format!(" [{}]", types.join(", ")) } else { String::new() };
        let _ = writeln!(text, "{name}{types}"); // writing to a string can't fail
    }
    print(&text)
}

/// Runs the equivalent of `ros2 action info`.
pub(super) fn info(options: &InfoOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let seen = observed.read()?;
    let all = seen.actions();
    let Some(NameAndTypes { types, .. }) = all.iter().find(|action| action.name == options.name) else {
        let similar = similar::to(&options.name, all.iter().map(|action| action.name.as_str()));
        let (name, domain) = (options.name.clone(), observed.domain());
        return Err(Error::NotFound { what: "action", name, domain, similar });
    };
    let feedback = format!("{}{FEEDBACK}", options.name);
    let servers: Vec<&str> = seen.publishers(&feedback).map(|end| end.node.as_str()).collect();
    let clients: Vec<&str> = seen.subscriptions(&feedback).map(|end| end.node.as_str()).collect();
    if options.json {
        return print_json(
            &json!({"name": options.name, "types": types, "servers": servers, "clients": clients}),
        );
    }
    let mut text = format!("Action: {}\nType: {}\n", options.name, types.join(", "));
    for (what, nodes) in [("clients", clients), ("servers", servers)] {
        let _ = writeln!(text, "Action {what}: {}", nodes.len()); // writing to a string can't fail
        text.extend(nodes.iter().map(|node| format!("    {node}\n")));
    }
    print(&text)
}

/// Events during a goal, in the order in which they are reported.
enum Event {
    Answered(Result<Vec<u8>, CallFailure>),
    Feedback,
    /// The server's answer to a cancel request, and whether it names the goal.
    Canceled(Result<(i8, bool), CallFailure>),
    Ended(Result<Vec<u8>, CallFailure>),
    /// Ctrl-C.
    Stop,
    /// The reader of the output is gone.
    OutputClosed,
}

/// Exit codes for goals that have ended without success; `ros2` has 0 for all.
const ABORTED: u8 = 3;
const CANCELED: u8 = 4;

/// Longest wait for the answer to a cancel request when this program ends before the goal.
const LEAVE_AFTER: Duration = Duration::from_secs(5);

fn output_closed() -> Error {
    Error::Output(io::ErrorKind::BrokenPipe.into())
}

/// Runs the equivalent of `ros2 action send_goal`.
pub(super) fn send_goal(options: &SendGoalOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let domain = Domain::open(options.place.dir.as_deref(), observed.domain())?;
    let types = Types::new(PackageSources::open(&options.definitions)?, Some(domain));
    let (sender, events) = channel();
    let stop = sender.clone();
    terminal::stop_on_signal(move || drop(stop.send(Event::Stop)), None)?;
    let closed = sender.clone();
    terminal::when_output_closes(move || drop(closed.send(Event::OutputClosed)))?;
    let values = written(options.what().1, &options.source)?;
    let ends = wait_for_server(options, &mut observed, &events)?;
    let types = ActionTypes::find((options, &values), &types, &ends)?;
    let mut context = Context::builder().domain(observed.domain());
    if let Some(path) = &options.place.dir {
        context = context.directory(path);
    }
    let context = context.build().map_err(sinew::Error::from)?;
    let node =
        context.node(&format!("_sinew_send_goal_{}", std::process::id())).map_err(sinew::Error::from)?;
    let goal = Goal::new(options, types, &node, &ends, sender).map_err(sinew::Error::from)?;
    goal.run(&events)
}

/// The type hashes of a server: for sending a goal, getting a result, and feedback.
struct ServerEnds {
    action: TypeName,
    hashes: [TypeHash; 3],
}

/// Waits until the server has everything that is needed.
fn wait_for_server(
    options: &SendGoalOptions,
    observed: &mut Observed,
    events: &Receiver<Event>,
) -> Result<ServerEnds, Error> {
    let begin = now_ns();
    let mut has_said = false;
    loop {
        let seen = observed.read()?;
        let find = |kind, entity: &str| {
            let full = format!("{}/_action/{entity}", options.name);
            let end = seen.endpoints().iter().find(|end| end.kind == kind && end.name == full)?;
            Some((end.type_hash?, end.type_name.clone()))
        };
        let (send, result) =
            (find(EndpointKind::Server, "send_goal"), find(EndpointKind::Server, "get_result"));
        if let (Some((send, _)), Some((result, _)), Some((feedback, type_name))) =
            (send, result, find(EndpointKind::Publisher, "feedback"))
        {
            let action = type_name.strip_suffix("_FeedbackMessage").and_then(|name| name.parse().ok());
            let action = action.ok_or(CallError::NoType { service: options.name.clone(), type_name })?;
            return Ok(ServerEnds { action, hashes: [send, result, feedback] });
        }
        let names = seen.actions();
        let names = names.iter().map(|action| action.name.as_str());
        let similar = suggestion(&similar::to(&options.name, names));
        let (service, domain) = (options.name.clone(), observed.domain());
        if !std::mem::replace(&mut has_said, true) {
            says(&format!("{service} has no server in domain {domain} yet: waiting{similar}"));
        }
        if let Some(waited) = options.timeout.filter(|timeout| now_ns() - begin > nanoseconds(*timeout)) {
            return Err(CallError::NoServer { service, domain, waited, similar }.into());
        }
        match events.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::OutputClosed) => return Err(output_closed()),
            _ => return Err(CallError::StoppedWaiting { service, domain, similar }.into()),
        }
    }
}

/// The types of the messages, and the user's goal.
struct ActionTypes {
    /// The encoded request.
    request: Vec<u8>,
    answer: Arc<MessageType>,
    result: Arc<MessageType>,
    feedback: Arc<MessageType>,
    id: [u8; 16],
}

impl ActionTypes {
    fn find(
        (options, values): (&SendGoalOptions, &str),
        types: &Types,
        ends: &ServerEnds,
    ) -> Result<Self, Error> {
        if let Some(wanted) = options.what().0 {
            let wanted = name(wanted, types.sources())?;
            if wanted != ends.action {
                let (found, wanted) = (ends.action.to_string(), wanted.to_string());
                return Err(CallError::OtherType { service: options.name.clone(), found, wanted }.into());
            }
        }
        let part = |suffix: &str| {
            let name = format!("{}{suffix}", ends.action);
            name.parse::<TypeName>().map_err(|_| Error::from(types.unknown(&name)))
        };
        let [send, result, feedback] = ends.hashes.map(Some);
        let (of_goal, send_goal) = (format!("{}_Goal", ends.action), part("_SendGoal")?);
        let inside = types.inside(&send_goal, send)?;
        let (goal_type, answer) = (inside(&of_goal)?, inside(&format!("{send_goal}_Response"))?);
        let [_, result] = types.service(&part("_GetResult")?, result)?;
        let feedback = types.message(&part("_FeedbackMessage")?, feedback)?;
        let id = sinew_action::GoalId::random().0;
        // An empty variable in a script must not send a robot to the point where all values are 0.
        if values.trim().is_empty() {
            return Err(CallError::NoGoal { service: options.name.clone() }.into());
        }
        let goal = template::now(&mut message_of(&goal_type, values)?).encode();
        // The id has 16 bytes, so the goal behind it is aligned as it would be alone.
        let request = [&goal[..HEADER_SIZE], &id, &goal[HEADER_SIZE..]].concat();
        Ok(Self { request, answer, result, feedback, id })
    }
}

/// The progress of a goal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sent,
    Accepted,
    /// Ended or rejected.
    Ended,
}

/// A goal that has been or will be sent.
struct Goal<'a> {
    options: &'a SendGoalOptions,
    types: ActionTypes,
    sender: Sender<Event>,
    send: Client<GenericService>,
    result: Client<GenericService>,
    cancel: Client<CancelGoal>,
    feedback: Subscription<SerializedMessage>,
}

impl<'a> Goal<'a> {
    fn new(
        options: &'a SendGoalOptions,
        types: ActionTypes,
        node: &Node,
        ends: &ServerEnds,
        sender: Sender<Event>,
    ) -> Result<Self, CreateError> {
        let entity = |entity: &str| format!("{}/_action/{entity}", options.name);
        let known = |suffix: &str, hash: TypeHash| {
            let name = format!("{}{suffix}", ends.action);
            #[expect(clippy::expect_used, reason = "the type has just been read by this name")]
            GenericType::new(&name, hash).expect("the name of a type")
        };
        let [send, result, feedback] = ends.hashes;
        let told = sender.clone();
        let subscription = node
            .generic_subscription(&entity("feedback"), known("_FeedbackMessage", feedback))
            .qos(QoS::default().keep_last(options.depth as usize))
            .listener(move |_| drop(told.send(Event::Feedback)))
            .create()?;
        Ok(Self {
            options,
            types,
            send: node.generic_client(&entity("send_goal"), known("_SendGoal", send)).create()?,
            result: node.generic_client(&entity("get_result"), known("_GetResult", result)).create()?,
            cancel: node.client(&entity("cancel_goal")).create()?,
            feedback: subscription,
            sender,
        })
    }

    fn failed(&self, reason: impl ToString) -> Error {
        CallError::Failed { service: self.options.name.clone(), reason: reason.to_string() }.into()
    }

    /// Sends the goal, and prints events until it has ended. If this ends before, as the time is
    /// over or the reader of the output goes away, the goal is cancelled.
    fn run(&self, events: &Receiver<Event>) -> Result<(), Error> {
        let mut state = State::Sent;
        let outcome = self.follow(events, &mut state);
        let Err(error) = &outcome else { return outcome };
        if state == State::Ended {
            return outcome;
        }
        if error.is_closed_output() {
            self.leave(events, state); // nothing more is said
            return outcome;
        }
        says(&format!("waiting to cancel the goal, for at most {} s", LEAVE_AFTER.as_secs()));
        if !self.leave(events, state) {
            says(&format!("{} did not answer that: the goal may still run", self.options.name));
        }
        outcome
    }

    fn follow(&self, events: &Receiver<Event>, state: &mut State) -> Result<(), Error> {
        let told = self.sender.clone();
        let lost_before = self.lost();
        let request = SerializedMessage::new(self.types.request.clone());
        let sent = self.send.call_then_immediately(request, move |answer| {
            let answer = answer.map(|answer| answer.into_inner().into_bytes());
            drop(told.send(Event::Answered(answer.map_err(|error| error.failure().clone()))));
        });
        sent.map_err(|error| {
            *state = State::Ended;
            self.failed(error.failure())
        })?;
        let begin = now_ns();
        let mut is_stopped = false;
        loop {
            let is_accepted = *state == State::Accepted;
            let event = match self.options.timeout.filter(|_| !is_accepted) {
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(timeout) => {
                    let passed = Duration::from_nanos(u64::try_from(now_ns() - begin).unwrap_or(0));
                    events.recv_timeout(timeout.saturating_sub(passed))
                }
            };
            match event {
                Ok(Event::Answered(answer)) => {
                    // Without an answer there is no goal. If the answer can't be read, the
                    // goal may run.
                    *state = if answer.is_ok() { State::Accepted } else { State::Ended };
                    if !self.is_accepted(&answer.map_err(|failure| self.failed(failure))?)? {
                        *state = State::Ended;
                    }
                    self.tell_accepted(*state)?;
                    self.tell_feedback()?;
                    self.ask_for_result()?;
                    if is_stopped {
                        self.ask_to_cancel()?;
                    }
                }
                Ok(Event::Feedback) if !is_accepted => {} // it has overtaken the answer, and waits
                Ok(Event::Feedback) => self.tell_feedback()?,
                Ok(Event::Canceled(Ok((0, true)))) => self.says("cancelling")?,
                // A server of rclpy that refuses returns 0, and names no goal.
                Ok(Event::Canceled(Ok((0 | 1, _)))) => {
                    says("the server refuses to cancel the goal: Ctrl-C again ends this only")
                }
                Ok(Event::Canceled(Ok(_))) => {} // it has ended meanwhile
                Ok(Event::Canceled(Err(failure))) => return Err(self.failed(failure)),
                Ok(Event::Ended(result)) => {
                    *state = State::Ended;
                    self.tell_feedback()?;
                    // Feedback that another thread was reading at that moment.
                    self.feedback.bring_in(READING);
                    self.tell_feedback()?;
                    self.tell_lost(self.lost() - lost_before)?;
                    return self.ended(&result.map_err(|failure| self.failed(failure))?);
                }
                Ok(Event::Stop) if is_accepted => self.ask_to_cancel()?,
                Ok(Event::Stop) => is_stopped = true,
                Ok(Event::OutputClosed) => return Err(output_closed()),
                Err(_) => {
                    let (service, waited) =
                        (self.options.name.clone(), self.options.timeout.unwrap_or_default());
                    return Err(CallError::TimedOut { service, waited }.into());
                }
            }
        }
    }

    /// Cancels the goal without output, and waits until the server has answered the request.
    /// Returns `true` if it has, or if there is no goal any more.
    fn leave(&self, events: &Receiver<Event>, mut state: State) -> bool {
        let begin = now_ns();
        let mut is_asked = false;
        while state != State::Ended {
            // A server that can't be asked wouldn't answer.
            if state == State::Accepted
                && !std::mem::replace(&mut is_asked, true)
                && self.ask_to_cancel().is_err()
            {
                return false;
            }
            let passed = Duration::from_nanos(u64::try_from(now_ns() - begin).unwrap_or(0));
            match events.recv_timeout(LEAVE_AFTER.saturating_sub(passed)) {
                Ok(Event::Answered(answer)) => {
                    let is_accepted = answer.is_ok_and(|answer| self.is_accepted(&answer).unwrap_or(false));
                    state = if is_accepted { State::Accepted } else { State::Ended };
                }
                Ok(Event::Feedback | Event::OutputClosed) => {}
                Ok(Event::Canceled(answer)) => return answer.is_ok(),
                Ok(Event::Ended(_)) => return true,
                Ok(Event::Stop) | Err(_) => return false,
            }
        }
        true
    }

    fn is_accepted(&self, encoded: &[u8]) -> Result<bool, Error> {
        let answer = self.read(&self.types.answer, encoded)?;
        Ok(part_of(&answer, "accepted").as_deref() == Some("true"))
    }

    fn tell_accepted(&self, state: State) -> Result<(), Error> {
        if state != State::Accepted {
            return Err(self.failed("the server rejected the goal"));
        }
        let id = sinew_action::GoalId(self.types.id);
        match self.options.json {
            true => print_json(&json!({"accepted": true, "goal_id": id.to_string()})),
            false => print(&format!("Goal accepted with ID: {id}\n")),
        }
    }

    fn ask_for_result(&self) -> Result<(), Error> {
        let told = self.sender.clone();
        let encoded = [&[0, 1, 0, 0][..], &self.types.id].concat(); // CDR of the id alone
        let asked = self.result.call_then_immediately(SerializedMessage::new(encoded), move |result| {
            let result = result.map(|result| result.into_inner().into_bytes());
            drop(told.send(Event::Ended(result.map_err(|error| error.failure().clone()))));
        });
        asked.map(drop).map_err(|error| self.failed(error.failure()))
    }

    fn ask_to_cancel(&self) -> Result<(), Error> {
        let told = self.sender.clone();
        let goal_info = GoalInfo { goal_id: UUID { uuid: self.types.id }, ..GoalInfo::default() };
        let id = self.types.id;
        let asked = self.cancel.call_then_immediately(CancelGoalRequest { goal_info }, move |answer| {
            let answer = answer.map(|answer| {
                let is_named = answer.goals_canceling.iter().any(|goal| goal.goal_id.uuid == id);
                (answer.return_code, is_named)
            });
            drop(told.send(Event::Canceled(answer.map_err(|error| error.failure().clone()))));
        });
        asked.map(drop).map_err(|error| self.failed(error.failure()))
    }

    /// Prints new feedback of this goal.
    fn tell_feedback(&self) -> Result<(), Error> {
        while let Some((message, _)) = self.feedback.take_sample() {
            if message.bytes().get(4..20) != Some(&self.types.id[..]) {
                continue; // for another goal
            }
            let feedback = self.read(&self.types.feedback, message.bytes())?;
            self.tell("Feedback", "feedback", &feedback, None)?;
        }
        Ok(())
    }

    /// Returns the number of feedback messages, of all goals, that were overwritten or lost.
    fn lost(&self) -> u64 {
        let statistics = self.feedback.statistics();
        statistics.overwritten + statistics.missed
    }

    /// Reports how many feedback messages were lost.
    fn tell_lost(&self, lost: u64) -> Result<(), Error> {
        if lost == 0 {
            return Ok(());
        }
        if self.options.json {
            return print_json(&json!({"feedback_lost": lost}));
        }
        let (pieces, were) = if lost == 1 { ("piece", "was") } else { ("pieces", "were") };
        says(&format!(
            "{lost} {pieces} of feedback {were} lost, as more came at once than the {} of `--depth` (some may have \
             been of other goals of the action)",
            self.options.depth
        ));
        Ok(())
    }

    fn ended(&self, encoded: &[u8]) -> Result<(), Error> {
        let response = self.read(&self.types.result, encoded)?;
        let (status, code) = match part_of(&response, "status").as_deref() {
            Some("4") => ("SUCCEEDED", 0),
            Some("5") => ("CANCELED", CANCELED),
            Some("6") => ("ABORTED", ABORTED),
            _ => return Err(self.failed("the server doesn't know the goal any more")),
        };
        self.tell("Result", "result", &response, Some(status))?;
        if code == 0 { Ok(()) } else { Err(Error::Ended { code }) }
    }

    /// Prints a field of a message, under a title.
    fn tell(&self, title: &str, field: &str, of: &DynamicMessage, status: Option<&str>) -> Result<(), Error> {
        let path = of.message_type().path(field).map_err(|error| self.failed(error))?;
        let Some(part) = of.part(&path) else { return Ok(()) };
        if self.options.json {
            let status = status.map(|status| format!(",\"status\":\"{status}\"")).unwrap_or_default();
            return print(&format!("{{\"{field}\":{}{status}}}\n", part.to_json().trim_end()));
        }
        let yaml = part.to_yaml(&self.options.style.style());
        let indented: String = yaml.lines().map(|line| format!("    {line}\n")).collect();
        let status =
            status.map(|status| format!("Goal finished with status: {status}\n")).unwrap_or_default();
        print(&format!("{title}:\n{indented}{status}"))
    }

    fn says(&self, what: &str) -> Result<(), Error> {
        match self.options.json {
            true => print_json(&json!({"goal": what})),
            false => {
                says(what);
                Ok(())
            }
        }
    }

    fn read(&self, message_type: &Arc<MessageType>, encoded: &[u8]) -> Result<DynamicMessage, Error> {
        DynamicMessage::decode(message_type, encoded).map_err(|error| self.failed(error))
    }
}

/// Returns a field as JSON.
fn part_of(message: &DynamicMessage, field: &str) -> Option<String> {
    let path = message.message_type().path(field).ok()?;
    Some(message.part(&path)?.to_json().trim().to_owned())
}
