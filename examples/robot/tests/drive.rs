//! The robot drives, in virtual time: half a minute of it takes less than a second, and is the same
//! every time.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use parking_lot::Mutex;
use robot::map::START;
use robot::robot_interfaces::action::{Navigate, NavigateGoal};
use sinew::action::{ActionClient, Actions, GoalHandle, GoalStatus};
use sinew::interfaces::geometry_msgs::msg::{PoseStamped, Twist};
use sinew::interfaces::sensor_msgs::msg::JointState;
use sinew::interfaces::std_msgs::msg::Header;
use sinew::lifecycle::{FromFn, LifecycleNode};
use sinew::prelude::*;
use sinew::tf::{At, Buffer, TransformListener};
use sinew::time::{ClockPublisher, Time, VirtualClock};
use std::any::Any;
use std::sync::Arc;

struct Robot {
    executor: Executor,
    node: Node,
    wheels: LifecycleNode<FromFn<robot::wheels::Wheels>>,
    buffer: Buffer,
    client: ActionClient<Navigate>,
    truth: Subscription<PoseStamped>,
    commands: Subscription<Twist>,
    nodes: Vec<Node>,
    /// They end with it: lidar, odometry, controller, planner, and the test's own.
    kept: Vec<Box<dyn Any>>,
}

/// What is told of a goal: feedback, and its end.
#[derive(Default)]
struct Told {
    distances: Vec<f64>,
    end: Option<(GoalStatus, String)>,
}

type Story = Arc<Mutex<Told>>;

impl Robot {
    fn new() -> Self {
        let builder = Context::builder().shared_memory(false).virtual_time(&VirtualClock::new());
        let robot = Self::of(&builder.build().unwrap());
        robot.pass(200); // all know where they are
        robot
    }

    /// One whose time is that of a simulated world, a quarter as fast as ours; and that world.
    fn simulated() -> (Self, ClockPublisher) {
        let builder = Context::builder().shared_memory(false).virtual_time(&VirtualClock::new());
        let context = builder.use_sim_time(true).build().unwrap();
        let robot = Self::of(&context);
        let world = robot.node.clock_publisher().start(Time::from_nanoseconds(1_700_000_000_000_000_000));
        let world = world.period(Duration::from_millis(4)).speed(0.25).create().unwrap();
        robot.pass(800);
        (robot, world)
    }

    fn of(context: &Context) -> Self {
        let make = |name| context.node(name).unwrap();
        let nodes: Vec<Node> = ["wheels", "lidar", "odometry", "controller", "planner"].map(make).into();
        let (wheels, lidar) =
            (robot::wheels::wheels(&nodes[0]).unwrap(), robot::lidar::lidar(&nodes[1]).unwrap());
        for transition in [LifecycleNode::configure, LifecycleNode::activate] {
            transition(&wheels).unwrap();
        }
        lidar.configure().unwrap();
        lidar.activate().unwrap();
        let kept: Vec<Box<dyn Any>> = vec![
            Box::new(lidar),
            Box::new(robot::odometry::odometry(&nodes[2]).unwrap()),
            Box::new(robot::controller::controller(&nodes[3]).unwrap()),
            Box::new(robot::planner::planner(&nodes[4]).unwrap()),
        ];
        let node = make("test");
        let buffer = Buffer::new();
        let listener = TransformListener::new(&node, &buffer).unwrap();
        let executor = Executor::single();
        executor.add(context).unwrap();
        let mut kept = kept;
        kept.push(Box::new(listener));
        let last = QoS::default().keep_last(1);
        Self {
            client: node.action_client("navigate").create().unwrap(),
            truth: node.subscription("ground_truth").qos(last).create().unwrap(),
            commands: node.subscription("cmd_vel").qos(last).create().unwrap(),
            executor,
            node,
            wheels,
            buffer,
            nodes,
            kept,
        }
    }

    fn pass(&self, milliseconds: u64) {
        self.executor.advance(Duration::from_millis(milliseconds)).unwrap();
    }

    fn go(&self, x: f64, y: f64) -> (GoalHandle<Navigate>, Story) {
        let told = Story::default();
        let (feedback, end) = (told.clone(), told.clone());
        let pending = self
            .client
            .goal(NavigateGoal { x, y })
            .on_feedback(move |feedback_: &robot::robot_interfaces::action::NavigateFeedback| {
                feedback.lock().distances.push(feedback_.distance);
            })
            .on_result(move |result| {
                let result = result.unwrap();
                end.lock().end = Some((result.status(), result.message.clone()));
            })
            .send();
        (pending.wait(Duration::from_secs(10)).unwrap(), told)
    }

    /// Until the goal has ended.
    fn end_of(&self, told: &Story) -> (GoalStatus, String) {
        for _ in 0..600 {
            if let Some(end) = told.lock().end.clone() {
                return end;
            }
            self.pass(100);
        }
        panic!("after a minute it is {:?} away", told.lock().distances.last());
    }

    /// Where it really is.
    fn place(&self) -> [f64; 2] {
        self.pass(20);
        let (pose, _) = self.truth.take().unwrap();
        [pose.pose.position.x, pose.pose.position.y]
    }

    fn is_still(&self) -> bool {
        let before = self.place();
        self.pass(500);
        distance(before, self.place()) < 0.01
    }
}

fn distance([ax, ay]: [f64; 2], [bx, by]: [f64; 2]) -> f64 {
    (ax - bx).hypot(ay - by)
}

#[test]
fn it_drives_around_a_wall() {
    let robot = Robot::new();
    let goal = [4.125, 1.125];
    let (_goal, told) = robot.go(goal[0], goal[1]);
    assert_eq!(robot.end_of(&told), (GoalStatus::Succeeded, "it is there".to_owned()));
    robot.pass(2000); // it goes on to the very place
    assert!(distance(robot.place(), goal) < 0.1, "{:?}", robot.place());
    assert!(robot.is_still());
    let told = told.lock();
    let [first, last] = [told.distances[0], told.distances[told.distances.len() - 1]];
    assert!(first > 2.5 && last < 0.3 && told.distances.len() > 20, "{:?}", told.distances);
}

/// Nothing in the robot says which clock is meant: its timers go by that of their nodes.
#[test]
fn it_drives_at_the_pace_of_a_simulated_world() {
    let (robot, world) = Robot::simulated();
    let (_goal, told) = robot.go(4.125, 1.125);
    robot.pass(1500);
    let place = || {
        let found = robot.buffer.lookup("map", "base_link", At::Latest).unwrap();
        let [x, y, _] = found.transform.translation;
        [x, y]
    };
    let way = distance(place(), START);
    assert!(way > 0.01 && way < 0.3, "as far as in a quarter of the time: {way}");
    world.pause().unwrap();
    robot.pass(10);
    let paused = place();
    robot.pass(20_000);
    assert_eq!((place(), told.lock().end.clone()), (paused, None), "it stands still, and waits");
    world.resume().unwrap();
    world.set_speed(1.0).unwrap();
    assert_eq!(robot.end_of(&told), (GoalStatus::Succeeded, "it is there".to_owned()));
}

#[test]
fn odometry_knows_where_it_is() {
    let robot = Robot::new();
    let (_goal, told) = robot.go(1.125, 2.625);
    robot.end_of(&told);
    let found = robot.buffer.lookup("map", "base_link", At::Latest).unwrap();
    let [x, y, _] = found.transform.translation;
    assert!(distance([x, y], robot.place()) < 0.02, "{found:?}");
    assert!((robot.node.now() - found.stamp) < Duration::from_millis(50));
    // With wheels that slip it doesn't.
    robot.nodes[0].set_parameter("slip", 0.3).unwrap();
    let (_goal, _told) = robot.go(1.125, 1.125);
    robot.pass(3000);
    let [x, y, _] = robot.buffer.lookup("map", "base_link", At::Latest).unwrap().transform.translation;
    assert!(distance([x, y], robot.place()) > 0.1);
}

#[test]
fn a_goal_that_is_cancelled_stops_it() {
    let robot = Robot::new();
    let (goal, told) = robot.go(4.125, 1.125);
    robot.pass(1500);
    assert!(distance(robot.place(), START) > 0.3, "it is on its way");
    let _cancelling = goal.cancel();
    assert_eq!(robot.end_of(&told), (GoalStatus::Canceled, "it was cancelled".to_owned()));
    assert!(robot.is_still());
}

#[test]
fn a_newer_goal_takes_the_place_of_an_older_one() {
    let robot = Robot::new();
    let (_older, told_of_older) = robot.go(4.125, 1.125);
    robot.pass(500);
    let (_newer, told_of_newer) = robot.go(1.125, 2.125);
    assert_eq!(robot.end_of(&told_of_older), (GoalStatus::Canceled, "a newer goal came".to_owned()));
    assert_eq!(robot.end_of(&told_of_newer).0, GoalStatus::Succeeded);
    assert!(distance(robot.place(), [1.125, 2.125]) < 0.2);
}

#[test]
fn wheels_stop_when_no_one_commands() {
    let mut robot = Robot::new();
    let (_goal, told) = robot.go(4.125, 1.125);
    robot.pass(1500);
    assert!(!robot.is_still());
    let controller = robot.kept.remove(2);
    drop(controller);
    robot.pass(600);
    assert!(robot.is_still());
    let (status, message) = robot.end_of(&told);
    assert_eq!(status, GoalStatus::Aborted);
    assert!(message.starts_with("it hasn't moved for 5 s"), "{message}");
}

#[test]
fn wheels_that_are_activated_again_wait_for_a_command() {
    let mut robot = Robot::new();
    let (_goal, _told) = robot.go(4.125, 1.125);
    robot.pass(1500);
    robot.wheels.deactivate().unwrap();
    drop(robot.kept.remove(2)); // the controller
    robot.wheels.activate().unwrap();
    assert!(robot.is_still());
}

#[test]
fn odometry_begins_anew_with_the_wheels() {
    let robot = Robot::new();
    let joints = robot.node.publisher::<JointState>("joint_states").create().unwrap();
    robot.wheels.deactivate().unwrap(); // these are the test's
    let at = |left: f64, right: f64| {
        let header = Header { stamp: robot.node.now().to_msg(), frame_id: String::new() };
        joints.publish(JointState { header, position: vec![left, right], ..JointState::default() }).unwrap();
        robot.pass(10);
        robot.buffer.lookup("odom", "base_link", At::Latest).unwrap().transform.translation
    };
    at(0.0, 0.0);
    let before = at(0.1, 0.1);
    assert!((before[0] - 0.01).abs() < 1e-9, "{before:?}");
    at(1000.0, 900.0); // no wheel turns so fast
    let after = at(1000.2, 900.2);
    assert!((after[0] - 0.02).abs() < 1e-9 && after[1].abs() < 1e-9, "{after:?}");
}

#[test]
fn what_cannot_be_reached_is_told() {
    let robot = Robot::new();
    let (_goal, told) = robot.go(4.625, 2.875);
    assert_eq!(robot.end_of(&told), (GoalStatus::Aborted, "there is no way to that place".to_owned()));
    assert!(robot.is_still());
}

#[test]
fn wheels_that_rest_move_nothing() {
    let robot = Robot::new();
    let (_goal, told) = robot.go(1.125, 2.625);
    robot.pass(1000);
    robot.wheels.deactivate().unwrap();
    while robot.truth.take().is_some() {}
    robot.pass(500);
    assert!(robot.truth.take().is_none(), "their publishers rest");
    // Also from the very beginning: what is simulated doesn't forget where it is.
    robot.wheels.cleanup().unwrap();
    robot.wheels.configure().unwrap();
    robot.wheels.activate().unwrap();
    assert_eq!(robot.end_of(&told).0, GoalStatus::Succeeded);
}

#[test]
fn parameters_take_effect_while_it_drives() {
    let robot = Robot::new();
    let (_goal, _told) = robot.go(1.125, 2.625);
    robot.pass(1500);
    let speed = |robot: &Robot| robot.commands.take().map_or(0.0, |(twist, _)| twist.linear.x);
    assert!(speed(&robot) > 0.4);
    robot.nodes[3].set_parameter("speed", 0.1).unwrap();
    robot.pass(50);
    assert!(speed(&robot) <= 0.1);
    assert!(robot.nodes[3].set_parameter("speed", 99.0).is_err(), "out of its range");
    // Something that is too near stops it.
    robot.nodes[3].set_parameter("stop", 2.0).unwrap();
    robot.pass(50);
    assert!(speed(&robot).abs() < f64::EPSILON);
}
