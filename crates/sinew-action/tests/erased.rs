//! Servers and clients of types that are known at run time, with each other and with those of Rust's
//! types: in one process, and through shared memory.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use sinew::erased::{EncodingTable, Message, MessageType, TypeTable};
use sinew::error::{DecodeError, ErrorCode, HasCode};
use sinew::msg::cdr::Structure;
use sinew::prelude::*;
use sinew::time::{Time, VirtualClock};
use sinew_action::erased::{
    ActionFields, ActionParts, ActionTypeError, ActionTypes, ErasedAction, ErasedActions, ServicePart,
};
use sinew_action::{
    Actions, Cancel, CancelOutcome, Decision, ExecutingGoal, GoalId, GoalStatus, SendGoalFailure,
};
use sinew_interfaces::example_interfaces::action as fibonacci;
use sinew_interfaces::example_interfaces::action::Fibonacci;
use std::alloc::Layout;
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::mpsc;

type Request = fibonacci::FibonacciSendGoalRequest;
type Response = fibonacci::FibonacciGetResultResponse;
type Feedback = fibonacci::FibonacciFeedbackMessage;

const PATIENCE: Duration = Duration::from_secs(60);

/// What another language would have for its own struct: here for one of Rust.
trait Value: sinew::Message + Structure + Default + Clone {}
impl<T: sinew::Message + Structure + Default + Clone> Value for T {}

unsafe fn drop_value<T: Value>(_: *const (), value: *mut u8) {
    // SAFETY: a value of the type, which is given up.
    unsafe { value.cast::<T>().drop_in_place() };
}

unsafe fn create<T: Value>(_: *const (), place: *mut u8) {
    // SAFETY: a place for a value of the type.
    unsafe { place.cast::<T>().write(T::default()) };
}

unsafe fn clone<T: Value>(_: *const (), from: *const u8, place: *mut u8) {
    // SAFETY: a value of the type.
    let value = unsafe { &*from.cast::<T>() }.clone();
    // SAFETY: a place for one.
    unsafe { place.cast::<T>().write(value) };
}

unsafe fn size<T: Value>(_: *const (), value: *const u8) -> usize {
    // SAFETY: a value of the type.
    (T::ENCODING.expect("it has one").size)(unsafe { &*value.cast::<T>() })
}

unsafe fn encode<T: Value>(_: *const (), value: *const u8, to: &mut [u8]) {
    // SAFETY: a value of the type.
    (T::ENCODING.expect("it has one").encode)(unsafe { &*value.cast::<T>() }, to);
}

unsafe fn decode<T: Value>(_: *const (), from: &[u8], to: *mut u8, filled: bool) -> Result<(), DecodeError> {
    let value = (T::ENCODING.expect("it has one").decode)(from)?;
    if filled {
        // SAFETY: a value of the type, which is replaced.
        unsafe { *to.cast::<T>() = value };
    } else {
        // SAFETY: a place for one.
        unsafe { to.cast::<T>().write(value) };
    }
    Ok(())
}

fn type_table<T: Value>(clones: bool, creates: bool) -> TypeTable {
    let mut table = TypeTable::new(T::NAME, Layout::new::<T>());
    table.hash = Some(T::HASH);
    table.drop = Some(drop_value::<T>);
    table.create = creates.then_some(create::<T>);
    table.clone = clones.then_some(clone::<T>);
    let (size, encode, decode) = (size::<T>, encode::<T>, decode::<T>);
    table.encoding = Some(EncodingTable { size, encode, decode, is_plain: false });
    table
}

fn message_type<T: Value>(clones: bool, creates: bool) -> MessageType {
    // SAFETY: the functions do what they should for a `T`, on any thread.
    unsafe { MessageType::register(None, type_table::<T>(clones, creates)) }.unwrap()
}

/// Returns the value of a message of the type.
fn get<T>(message: &Message) -> &T {
    // SAFETY: the tests' messages have values of the types by which they are named.
    unsafe { message.value().unwrap().cast::<T>().as_ref() }
}

fn get_mut<T>(message: &mut Message) -> &mut T {
    let mut value: NonNull<T> = message.value_mut().expect("one reference").cast();
    // SAFETY: as above.
    unsafe { value.as_mut() }
}

struct Fields;

impl ActionFields for Fields {
    fn request_goal_id(&self, request: &Message) -> GoalId {
        GoalId(get::<Request>(request).goal_id.uuid)
    }

    fn set_request_goal_id(&self, request: &mut Message, id: GoalId) {
        get_mut::<Request>(request).goal_id.uuid = id.0;
    }

    fn feedback_goal_id(&self, feedback: &Message) -> GoalId {
        GoalId(get::<Feedback>(feedback).goal_id.uuid)
    }

    fn set_feedback_goal_id(&self, feedback: &mut Message, id: GoalId) {
        get_mut::<Feedback>(feedback).goal_id.uuid = id.0;
    }

    fn status(&self, response: &Message) -> i8 {
        get::<Response>(response).status
    }

    fn set_status(&self, response: &mut Message, status: i8) {
        get_mut::<Response>(response).status = status;
    }
}

fn parts(clones: bool) -> ActionParts<'static> {
    use sinew::Service;
    use sinew::msg::Action;
    type Sending = <Fibonacci as Action>::SendGoal;
    type Getting = <Fibonacci as Action>::GetResult;
    let part = |hash, message| ServicePart { hash, message };
    ActionParts {
        name: Fibonacci::NAME,
        send_goal: part(Sending::TYPE.unwrap().hash, message_type::<Request>(clones, true)),
        get_result: part(Getting::TYPE.unwrap().hash, message_type::<Response>(clones, true)),
        feedback: message_type::<Feedback>(clones, true),
    }
}

fn types(clones: bool) -> ActionTypes {
    ActionTypes::new(parts(clones), Fields).unwrap()
}

/// A message with a value.
fn message<T: Value>(of: MessageType, value: T) -> Message {
    let place = Message::uninit(of);
    // SAFETY: the place is for a value of the type.
    unsafe { place.place().cast::<T>().write(value) };
    // SAFETY: the value is there.
    unsafe { place.assume_init() }
}

fn order(types: &ActionTypes, order: i32) -> Message {
    let goal = fibonacci::FibonacciGoal { order };
    message(types.request(), Request { goal, ..Request::default() })
}

fn outcome(types: &ActionTypes, sequence: &[i32]) -> Message {
    let result = fibonacci::FibonacciResult { sequence: sequence.to_vec() };
    message(types.response(), Response { result, ..Response::default() })
}

fn news(types: &ActionTypes, sequence: &[i32]) -> Message {
    let feedback = fibonacci::FibonacciFeedback { sequence: sequence.to_vec() };
    message(types.feedback(), Feedback { feedback, ..Feedback::default() })
}

/// Nodes of one context, or of two that meet in shared memory.
struct World {
    server: Node,
    client: Node,
    executor: Executor,
    _place: Option<tempfile::TempDir>,
}

impl World {
    fn in_process() -> Self {
        let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
        Self::of(&[context.clone(), context], None)
    }

    fn shm() -> Self {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = || Context::builder().domain(3).directory(place.path()).build().unwrap();
        Self::of(&[context(), context()], Some(place))
    }

    fn of(contexts: &[Context], place: Option<tempfile::TempDir>) -> Self {
        let (server, client) = (contexts[0].node("server").unwrap(), contexts[1].node("client").unwrap());
        let executor = Executor::single();
        executor.add(&server).unwrap();
        executor.add(&client).unwrap();
        Self { server, client, executor, _place: place }
    }

    /// Runs callbacks until the channel has something.
    fn next<T>(&self, all: &mpsc::Receiver<T>) -> T {
        let begin = Time::steady();
        loop {
            if let Ok(next) = all.try_recv() {
                return next;
            }
            assert!(Time::steady() - begin < PATIENCE, "it never came");
            self.executor.spin_once(Duration::from_millis(10)).unwrap();
        }
    }
}

/// Checks a goal from its sending to its result: the client is erased, the server does this: one
/// piece of feedback, [1], and the result [1, 2].
fn is_served(world: &World, types: &ActionTypes) {
    let client = world.client.erased_action_client("fibonacci", types).create().unwrap();
    assert!(client.wait_for_server(PATIENCE));
    let (pen, seen) = mpsc::channel();
    let (for_feedback, for_result) = (pen.clone(), pen);
    let pending = client
        .goal(order(types, 2))
        .on_feedback_message(move |message: &Message| {
            for_feedback.send(get::<Feedback>(message).feedback.sequence.clone())
        })
        .on_result(move |ended| {
            let ended = ended.unwrap();
            assert_eq!(ended.status(), GoalStatus::Succeeded);
            let response = ended.into_result();
            assert_eq!(get::<Response>(&response).status, 4);
            for_result.send(get::<Response>(&response).result.sequence.clone())
        })
        .send();
    assert_eq!((world.next(&seen), world.next(&seen)), (vec![1], vec![1, 2]));
    let goal = pending.wait(PATIENCE).unwrap();
    let again = goal.result().wait(PATIENCE).unwrap().into_result();
    assert_eq!(get::<Response>(&again).result.sequence, [1, 2]);
    assert_eq!(goal.status(), GoalStatus::Succeeded);
}

/// As `is_served`, with a client of Rust's types.
fn is_served_to_rust(world: &World) {
    let client = world.client.action_client::<Fibonacci>("fibonacci").create().unwrap();
    assert!(client.wait_for_server(PATIENCE));
    let (pen, seen) = mpsc::channel();
    let (for_feedback, for_result) = (pen.clone(), pen);
    let _pending = client
        .goal(fibonacci::FibonacciGoal { order: 2 })
        .on_feedback(move |feedback: &fibonacci::FibonacciFeedback| {
            for_feedback.send(feedback.sequence.clone())
        })
        .on_result(move |ended| for_result.send(ended.unwrap().sequence.clone()))
        .send();
    assert_eq!((world.next(&seen), world.next(&seen)), (vec![1], vec![1, 2]));
}

fn a_server_of_rust(world: &World) -> sinew_action::ActionServer<Fibonacci> {
    let callback = |goal: ExecutingGoal<Fibonacci>| {
        assert_eq!(goal.goal().order, 2);
        goal.publish_feedback(fibonacci::FibonacciFeedback { sequence: vec![1] }).unwrap();
        goal.succeed(fibonacci::FibonacciResult { sequence: vec![1, 2] }).unwrap();
    };
    world.server.action_server("fibonacci").callback(callback).unwrap()
}

fn an_erased_server(world: &World, types: &ActionTypes) -> sinew_action::ActionServer<ErasedAction> {
    let callback = |goal: ExecutingGoal<ErasedAction>| {
        assert_eq!(get::<Request>(goal.goal()).goal.order, 2);
        assert_eq!(get::<Request>(goal.goal()).goal_id.uuid, goal.id().0);
        goal.publish_feedback(news(goal.types(), &[1])).unwrap();
        let result = outcome(goal.types(), &[1, 2]);
        goal.succeed(result).unwrap();
    };
    world.server.erased_action_server("fibonacci", types).callback(callback).unwrap()
}

/// Each kind of server with each kind of client; results are copied by a clone function, or by their
/// encoded form.
fn each_with_each(world: &World) {
    for clones in [true, false] {
        let types = types(clones);
        let server = an_erased_server(world, &types);
        is_served(world, &types);
        is_served(world, &self::types(clones)); // types of another registration: encoded
        is_served_to_rust(world);
        server.close();
        let server = a_server_of_rust(world);
        is_served(world, &types);
        server.close();
    }
}

#[test]
fn in_process() {
    each_with_each(&World::in_process());
}

#[test]
fn through_shared_memory() {
    each_with_each(&World::shm());
}

#[test]
fn a_goal_moves_to_the_server() {
    let world = World::in_process();
    let types = types(false); // nothing can be copied
    let (sender, begun) = mpsc::channel();
    let callback = move |goal: ExecutingGoal<ErasedAction>| sender.send(goal).unwrap();
    let _server = world.server.erased_action_server("fibonacci", &types).callback(callback).unwrap();
    let client = world.client.erased_action_client("fibonacci", &types).create().unwrap();
    let goal = order(&types, 3);
    let address = goal.value();
    let sent = client.send_goal(goal).wait(PATIENCE).unwrap();
    let executing = world.next(&begun);
    assert_eq!(executing.goal().value(), address);

    // What is no message of the action is refused, and the goal continues.
    let refused = executing.publish_feedback(order(&types, 1)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::OtherType);
    let shared = outcome(&types, &[]);
    let refused = executing.succeed(shared.clone()).unwrap_err();
    assert_eq!(refused.error.code(), ErrorCode::NotSole);
    assert!(Message::ptr_eq(&refused.error.into_message(), &shared));
    let executing = refused.goal.unwrap();
    assert_eq!(sent.status(), GoalStatus::Executing);
    let canceled = sent.cancel().wait(PATIENCE).unwrap();
    assert_eq!((canceled.outcome, canceled.goals.len()), (CancelOutcome::Done, 1));
    executing.canceled(outcome(&types, &[7])).unwrap();
    let ended = sent.result().wait(PATIENCE).unwrap();
    assert_eq!(ended.status(), GoalStatus::Canceled);

    let error = client.send_goal(news(&types, &[])).wait(PATIENCE).unwrap_err();
    assert_eq!(error.code(), ErrorCode::OtherType);
    let kept = order(&types, 1);
    let error = client.send_goal(kept.clone()).wait(PATIENCE).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotSole);
}

#[test]
fn goals_end_with_the_first_value() {
    let world = World::in_process();
    let types = types(true);
    let server = world
        .server
        .erased_action_server("fibonacci", &types)
        .on_goal(|_, goal| match get::<Request>(goal).goal.order {
            1 => Decision::Reject,
            _ => Decision::defer(drop::<sinew_action::AcceptedGoal<ErasedAction>>),
        })
        .callback(|_: ExecutingGoal<ErasedAction>| {})
        .unwrap();
    let client = world.client.erased_action_client("fibonacci", &types).create().unwrap();
    let rejected = client.send_goal(order(&types, 1)).wait(PATIENCE).unwrap_err();
    assert_eq!(*rejected.failure(), SendGoalFailure::Rejected);
    let dropped = client.send_goal(order(&types, 2)).wait(PATIENCE).unwrap();
    let ended = dropped.result().wait(PATIENCE).unwrap().into_result();
    assert_eq!(get::<Response>(&ended), &Response { status: 5, ..Response::default() });
    assert_eq!(server.goals().iter().map(|goal| goal.2).collect::<Vec<_>>(), [GoalStatus::Canceled]);
    let (pen, answers) = mpsc::channel();
    client.cancel_then(Cancel::All, move |answer| pen.send(answer.unwrap().outcome));
    assert_eq!(world.next(&answers), CancelOutcome::Done);
}

#[test]
fn types_are_checked() {
    let good = parts(true);
    let swapped = ActionParts { feedback: good.send_goal.message, ..good };
    let error = ActionTypes::new(swapped, Fields).unwrap_err();
    assert!(matches!(error, ActionTypeError::OtherPart { .. }), "{error}");
    let response = |clones, creates| ServicePart {
        message: message_type::<Response>(clones, creates),
        ..good.get_result
    };
    let error = ActionTypes::new(ActionParts { get_result: response(true, false), ..good }, Fields);
    assert_eq!(error.unwrap_err().code(), ErrorCode::InvalidTypeTable);
    assert!(ActionTypes::new(ActionParts { get_result: response(false, true), ..good }, Fields).is_ok());
}

thread_local! {
    /// Runs when this thread drops the next message that has the type of `results_with_a_hook`.
    static WHEN_DROPPED: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

unsafe fn drop_and_run_hook(data: *const (), value: *mut u8) {
    // SAFETY: a value of the type, which is given up.
    unsafe { drop_value::<Response>(data, value) };
    if let Some(hook) = WHEN_DROPPED.take() {
        hook();
    }
}

fn results_with_a_hook() -> MessageType {
    let mut table = type_table::<Response>(true, true);
    table.drop = Some(drop_and_run_hook);
    // SAFETY: the functions do what they should for a `Response`, on any thread.
    unsafe { MessageType::register(None, table) }.unwrap()
}

/// The timer finds no result left to forget, and stops, while the next goal ends.
#[test]
fn a_goal_that_ends_while_others_are_forgotten_is_forgotten_in_its_turn() {
    let context = Context::builder().virtual_time(&VirtualClock::new()).shared_memory(false);
    let context = context.build().unwrap();
    let node = context.node("both").unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let at = |time| {
        context.set_ros_time(Some(Time::from_nanoseconds(time)));
        executor.spin_all(PATIENCE).unwrap();
    };
    at(1);
    let mut parts = parts(true);
    parts.get_result.message = results_with_a_hook();
    let types = ActionTypes::new(parts, Fields).unwrap();
    let (pen, goals) = mpsc::channel();
    let server = node
        .erased_action_server("fibonacci", &types)
        .result_timeout(Duration::from_nanos(100))
        .callback(move |goal: ExecutingGoal<ErasedAction>| pen.send(goal))
        .unwrap();
    let client = node.erased_action_client("fibonacci", &types).create().unwrap();
    let [first, second] = [1, 2].map(|number| {
        drop(client.send_goal(order(&types, number)).wait(PATIENCE).unwrap());
        executor.spin_all(PATIENCE).unwrap();
        goals.try_recv().unwrap()
    });
    first.succeed(outcome(&types, &[1])).unwrap();
    WHEN_DROPPED.set(Some(Box::new(move || second.succeed(outcome(&types, &[2])).unwrap())));
    at(101);
    assert_eq!(server.goals().len(), 1, "the second one has ended");
    at(201);
    assert_eq!(server.goals(), []);
}
