//! What ROS 2 makes of topics and services: parameters, actions and descriptions of types. Each is
//! offered by one side and used by the other.
//!
//! Two things can't be tried with hiroz 0.2.1, as the hashes that it gives some types aren't ROS 2's:
//! cancelling goals (`action_msgs/srv/CancelGoal`) and managed nodes (all services of `lifecycle_msgs`).
//! So its action servers are never wholly there for Sinew's clients, either; and their status is
//! offered as volatile, which ROS 2's clients don't take.

use crate::network::{Network, PATIENCE, Spinning, each_way, wait_for};
use hiroz::Builder as _;
use hiroz::action::GoalStatus as TheirStatus;
use hiroz::action::server::ExecutingGoal as TheirGoal;
use hiroz::parameter as theirs;
use hiroz_msgs::example_interfaces as their_fibonacci;
use sinew::introspection::TypeDescription;
use sinew::Message as _;
use sinew::parameters::{NamedValue, ParameterType, ParameterValue};
use sinew_action::{Actions, ExecutingGoal, GoalStatus};
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult,
};
use sinew_interfaces::geometry_msgs::msg::Twist;
use sinew_interfaces::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use std::sync::Arc;
use std::sync::mpsc;
use tokio::time::timeout;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap()
}

/// What hiroz answers, once both ends have met: what it asks before then it waits for in vain.
fn asked<T>(runtime: &tokio::runtime::Runtime, ask: impl AsyncFn() -> hiroz::Result<T>) -> T {
    let soon = std::time::Duration::from_millis(500);
    wait_for("an answer", || runtime.block_on(async { timeout(soon, ask()).await.ok()?.ok() }))
}

each_way! {
    fn hiroz_has_the_parameters_of_sinew(network: &Network) {
        let context = network.context();
        let node = context.node("camera").unwrap();
        let rate = node.parameter("rate").default(10_i64).range(1..=100).description("Hz").create().unwrap();
        let _frame = node.parameter("frame.id").default("optical".to_owned()).read_only().create().unwrap();
        let _matrix = node.parameter("matrix").default(vec![1.0, -0.5]).create().unwrap();
        let _spinning = Spinning::new(&context);

        let runtime = runtime();
        let tool = Arc::new(network.their_node("tool"));
        let target = theirs::ParameterTarget::from_fqn("/camera").unwrap();
        let client = theirs::ParameterClient::new(tool, target).unwrap();
        let names = ["rate", "frame.id", "matrix"];
        let values = asked(&runtime, async || client.get(&names).await);
        assert_eq!(values, [
            theirs::ParameterValue::Integer(10),
            theirs::ParameterValue::String("optical".to_owned()),
            theirs::ParameterValue::DoubleArray(vec![1.0, -0.5]),
        ]);
        let types = asked(&runtime, async || client.get_types(&names).await);
        assert_eq!(types, [
            theirs::ParameterType::Integer,
            theirs::ParameterType::String,
            theirs::ParameterType::DoubleArray,
        ]);
        let listed = asked(&runtime, async || client.list(&["frame"], None).await);
        assert_eq!((listed.names, listed.prefixes), (vec!["frame.id".to_owned()], vec!["frame".to_owned()]));
        let described = asked(&runtime, async || client.describe(&names).await);
        let range = described[0].integer_range.as_ref().unwrap();
        assert_eq!((range.from_value, range.to_value, &*described[0].description), (1, 100, "Hz"));
        assert!(described[1].read_only && !described[0].read_only);

        let of = |value| [theirs::Parameter::new("rate", theirs::ParameterValue::Integer(value))];
        assert!(asked(&runtime, async || client.set(&of(50)).await)[0].successful);
        assert_eq!(rate.get(), 50);
        let refused = asked(&runtime, async || client.set_atomically(&of(500)).await);
        assert!(!refused.successful && refused.reason.contains("rate"), "{refused:?}");
        assert_eq!(rate.get(), 50);
    }

    fn sinew_has_the_parameters_of_hiroz(network: &Network) {
        let camera = network.ros.create_node("camera").build().unwrap();
        let mut rate = theirs::ParameterDescriptor::new("rate", theirs::ParameterType::Integer);
        rate.integer_range = Some(theirs::IntegerRange { from_value: 1, to_value: 100, step: 1 });
        camera.declare_parameter("rate", theirs::ParameterValue::Integer(10), rate).unwrap();
        let name = theirs::ParameterDescriptor::new("name", theirs::ParameterType::String);
        camera.declare_parameter("name", theirs::ParameterValue::String("left".to_owned()), name).unwrap();

        let client = network.our_node("tool").parameter_client("/camera");
        let events = client.events().create().unwrap();
        let values = client.get(["rate", "name"]).wait(PATIENCE).unwrap();
        assert_eq!(values, [ParameterValue::Integer(10), ParameterValue::String("left".into())]);
        let types = client.types(["name"]).wait(PATIENCE).unwrap();
        assert_eq!(types, [ParameterType::String]);
        let listed = client.list(Vec::<String>::new(), 0).wait(PATIENCE).unwrap().names;
        assert!(listed.contains(&"rate".to_owned()) && listed.contains(&"name".to_owned()), "{listed:?}");
        assert_eq!(client.describe(["rate"]).wait(PATIENCE).unwrap()[0].name, "rate");

        wait_for("its publisher of events", || (events.publisher_count() > 0).then_some(()));
        let set = |value: i64| client.set([NamedValue::new("rate", value)]).wait(PATIENCE).unwrap();
        // The token may come before the way is open, so an event can be missed; another one isn't.
        let mut value = 10;
        // What was declared before may be told of as well.
        let told = wait_for("an event of the change", || {
            value += 1;
            assert_eq!(set(value), [Ok(())]);
            let events = std::iter::from_fn(|| events.take());
            events.flat_map(|(event, _)| event.changed_parameters.clone()).last()
        });
        assert_eq!(told.name, "rate");
        assert!(set(500)[0].is_err(), "out of its range");
        assert_eq!(camera.get_parameter("rate"), Some(theirs::ParameterValue::Integer(value)));
        let unknown = client.set_one("shutter", 1).wait(PATIENCE);
        assert!(unknown.is_err(), "{unknown:?}");
    }

    fn hiroz_sends_goals_to_sinew(network: &Network) {
        let context = network.context();
        let node = context.node("mathematician").unwrap();
        let (begin, begun) = mpsc::channel();
        let _server = node
            .action_server::<Fibonacci>("fibonacci")
            .callback(move |goal: ExecutingGoal<Fibonacci>| begin.send(goal))
            .unwrap();
        let _spinning = Spinning::new(&context);

        let runtime = runtime();
        let node = network.their_node("asker");
        let client = node
            .create_action_client::<their_fibonacci::action::Fibonacci>("/fibonacci")
            .build()
            .unwrap();
        assert!(runtime.block_on(client.wait_for_server(PATIENCE)), "the graph has all five entities");
        let mut goal = asked(&runtime, async || {
            client.send_goal(their_fibonacci::FibonacciGoal { order: 3 }).await
        });
        let executing = latest(&begun);
        assert_eq!(executing.goal().order, 3);
        let mut feedback = goal.feedback().unwrap();
        let sequence = vec![0, 1, 1];
        let told = wait_for("feedback", || {
            executing.publish_feedback(FibonacciFeedback { sequence: sequence.clone() }).unwrap();
            feedback.try_recv().ok()
        });
        assert_eq!(told.sequence, sequence);
        let mut status = goal.status_watch().unwrap();
        wait_for("its status", || {
            let now = *status.borrow_and_update();
            (now == TheirStatus::Executing).then_some(())
        });
        executing.succeed(FibonacciResult { sequence: sequence.clone() }).unwrap();
        let result = runtime.block_on(goal.result_with_timeout(PATIENCE)).unwrap();
        assert_eq!(result.sequence, sequence);
    }

    fn sinew_sends_goals_to_hiroz(network: &Network) {
        let runtime = runtime();
        let _entered = runtime.enter(); // the server's tasks run there
        let node = network.their_node("mathematician");
        let (begin, begun) = mpsc::channel();
        let _server = node
            .create_action_server::<their_fibonacci::action::Fibonacci>("/fibonacci")
            .build()
            .unwrap()
            .with_handler(move |goal: TheirGoal<their_fibonacci::action::Fibonacci>| {
                let sent = begin.send(goal);
                async move { drop(sent) }
            });

        let asking = network.context();
        let client = asking.node("asker").unwrap().action_client::<Fibonacci>("fibonacci").create().unwrap();
        let _spinning = Spinning::new(&asking);
        let goal = client.send_goal(FibonacciGoal { order: 3 }).wait(PATIENCE).unwrap();
        let executing = begun.recv_timeout(PATIENCE).unwrap();
        assert_eq!(executing.goal().order, 3);
        let mut feedback = goal.feedback();
        let sequence = vec![0, 1, 1];
        let told = wait_for("feedback", || {
            let feedback_now = their_fibonacci::FibonacciFeedback { sequence: sequence.clone() };
            executing.publish_feedback(feedback_now).unwrap();
            feedback.take()
        });
        assert_eq!(told.sequence, sequence);
        executing.succeed(their_fibonacci::FibonacciResult { sequence: sequence.clone() }).unwrap();
        let result = goal.result().wait(PATIENCE).unwrap();
        assert_eq!((result.status(), &result.sequence), (GoalStatus::Succeeded, &sequence));
    }

    /// hiroz asks the node that publishes what the type of its topic is made of.
    fn hiroz_learns_a_type_of_sinew(network: &Network) {
        let context = network.context();
        let node = context.node("driver").unwrap();
        let _described = node.type_description_service().unwrap();
        let _publisher = node.publisher::<Twist>("/cmd_vel").create().unwrap();
        let _spinning = Spinning::new(&context);
        let tool = network.their_node("tool");
        let soon = std::time::Duration::from_millis(500);
        let found = asked(&runtime(), async || tool.discover_topic_schema("/cmd_vel", soon).await);
        assert_eq!(found.schema.type_name, "geometry_msgs/msg/Twist");
        let fields: Vec<_> = found.schema.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(fields, ["linear", "angular"]);
    }

    fn sinew_learns_a_type_of_hiroz(network: &Network) {
        let node = network.ros.create_node("driver").without_parameters().with_type_description_service();
        let node = node.build().unwrap();
        let _publisher = node.create_pub::<hiroz_msgs::geometry_msgs::Twist>("/cmd_vel").build().unwrap();
        let client =
            network.our_node("tool").client::<GetTypeDescription>("/driver/get_type_description").create().unwrap();
        let hash = Twist::ENCODING.unwrap().hash;
        let request = GetTypeDescriptionRequest {
            type_name: "geometry_msgs/msg/Twist".to_owned(),
            type_hash: hash.to_string(),
            include_type_sources: false,
        };
        assert!(client.wait_for_server(PATIENCE));
        let answer = client.call(request, PATIENCE).unwrap().into_inner();
        assert!(answer.successful, "{}", answer.failure_reason);
        let described = TypeDescription::from(&answer.type_description);
        assert_eq!(described.hash(), hash);
    }
}

/// The goal that came last: one whose acceptance the other side missed may have come before.
fn latest(begun: &mpsc::Receiver<ExecutingGoal<Fibonacci>>) -> ExecutingGoal<Fibonacci> {
    let first = begun.recv_timeout(PATIENCE).unwrap();
    begun.try_iter().last().unwrap_or(first)
}
