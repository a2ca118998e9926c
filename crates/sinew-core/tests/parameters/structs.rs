//! Structs of parameters.

use super::{named, node};
use crate::support::{Log, Room};
use sinew::parameters::{ParameterValue, Parameters};
use sinew::prelude::*;

/// How a base drives.
#[derive(Parameters, Debug, PartialEq)]
#[parameters(validate = Drive::check)]
struct Drive {
    /// Proportional gain.
    ///
    /// Between 0 and 10.
    #[parameter(default = 1.5, range = 0.0..=10.0)]
    gain: f64,
    #[parameter(default = Mode::GoAround)]
    mode: Mode,
    #[parameter(default = "/dev/ttyS0", read_only)]
    port: String,
    #[parameter(default = [1.0, 2.0], name = "offsets", constraints = "Two of them.")]
    shifts: Vec<f64>,
    #[parameter(default = 4, range = 0..=100, step = 4)]
    count: u16,
    enabled: bool,
    current: Option<i64>,
    limits: Limits,
    #[parameter(read_only)]
    fixed: Limits,
}

#[derive(Parameters, Debug, PartialEq)]
#[parameters(validate = check_limits)]
struct Limits {
    /// In m/s.
    #[parameter(default = 2.0)]
    speed: f64,
    deep: Deep,
}

#[derive(Parameters, Debug, PartialEq)]
struct Deep {
    #[parameter(default = 7)]
    n: i64,
}

#[derive(Parameters, Debug, PartialEq, Clone, Copy)]
enum Mode {
    Stop,
    GoAround,
    #[parameter(name = "ask!")]
    Ask,
}

impl Drive {
    fn check(&self) -> Result<(), String> {
        if self.shifts.len() == 2 { Ok(()) } else { Err(format!("{} offsets, not 2", self.shifts.len())) }
    }
}

fn check_limits(limits: &Limits) -> Result<(), &'static str> {
    if limits.speed < 5.0 { Ok(()) } else { Err("too fast") }
}

const NAMES: [&str; 12] = [
    "count",
    "current",
    "enabled",
    "fixed.deep.n",
    "fixed.speed",
    "gain",
    "limits.deep.n",
    "limits.speed",
    "mode",
    "offsets",
    "port",
    "use_sim_time",
];

#[test]
fn a_struct_declares_its_fields() -> sinew::Result<()> {
    let node = node();
    let drive = node.parameters::<Drive>()?;
    let limits = || Limits { speed: 2.0, deep: Deep { n: 7 } };
    let expected = Drive {
        gain: 1.5,
        mode: Mode::GoAround,
        port: "/dev/ttyS0".to_owned(),
        shifts: vec![1.0, 2.0],
        count: 4,
        enabled: false,
        current: None,
        limits: limits(),
        fixed: limits(),
    };
    assert_eq!(*drive.get(), expected);
    assert_eq!(node.list_parameters(&[], 0), NAMES);
    let described = |name: &str| node.describe_parameter(name).unwrap();
    assert_eq!(described("gain").description, "Proportional gain.\n\nBetween 0 and 10.");
    assert_eq!(described("gain").double_range.map(|range| (range.from, range.to)), Some((0.0, 10.0)));
    assert_eq!(described("mode").additional_constraints, "One of: stop, go_around, ask!");
    assert_eq!(described("offsets").additional_constraints, "Two of them.");
    assert_eq!(described("count").integer_range.map(|range| range.step), Some(4));
    assert_eq!(described("limits.speed").description, "In m/s.");
    let read_only: Vec<_> = NAMES.into_iter().filter(|name| described(name).read_only).collect();
    assert_eq!(read_only, ["fixed.deep.n", "fixed.speed", "port"]);
    Ok(())
}

#[test]
fn literals_are_defaults_of_every_type_they_can_stand_for() -> sinew::Result<()> {
    const FIRST: f64 = 0.25;
    const LAST: f32 = 5.5;
    #[derive(Parameters, Debug, PartialEq)]
    struct Literals {
        #[parameter(default = ["front", "rear"])]
        names: Vec<String>,
        #[parameter(default = [1, -2])]
        offsets: Vec<f64>,
        #[parameter(default = [FIRST, 2.0])]
        mixed: Vec<f64>,
        #[parameter(default = [0.5; 3])]
        same: Vec<f64>,
        #[parameter(default = [5_000_000_000, -1])]
        counts: Vec<i64>,
        #[parameter(default = [1, 255])]
        bytes: Vec<u8>,
        #[parameter(default = [true, false])]
        truths: Vec<bool>,
        #[parameter(default = [])]
        none: Vec<String>,
        #[parameter(default = [])]
        no_limits: Option<Vec<f64>>,
        #[parameter(default = 3, range = 0..=10, step = 1)]
        gain: f64,
        #[parameter(default = -3, range = -5..=LAST)]
        small: f32,
        #[parameter(default = "map")]
        frame: Option<String>,
        #[parameter(default = [1.5])]
        limits: Option<Vec<f64>>,
        #[parameter(default = Some(4))]
        some: Option<i64>,
        #[parameter(default = None)]
        unset: Option<f64>,
        #[parameter(default = vec![2.5])]
        own: Vec<f64>,
    }
    let node = node();
    let expected = Literals {
        names: vec!["front".to_owned(), "rear".to_owned()],
        offsets: vec![1.0, -2.0],
        mixed: vec![0.25, 2.0],
        same: vec![0.5; 3],
        counts: vec![5_000_000_000, -1],
        bytes: vec![1, 255],
        truths: vec![true, false],
        none: vec![],
        no_limits: Some(vec![]),
        gain: 3.0,
        small: -3.0,
        frame: Some("map".to_owned()),
        limits: Some(vec![1.5]),
        some: Some(4),
        unset: None,
        own: vec![2.5],
    };
    assert_eq!(*node.parameters::<Literals>()?.get(), expected);
    let range = |name: &str| node.describe_parameter(name).unwrap().double_range.unwrap().to_string();
    assert_eq!([range("gain"), range("small")], ["0.0 to 10.0, in steps of 1.0", "-5.0 to 5.5"]);
    Ok(())
}

#[test]
fn a_struct_is_one_of_one_moment() -> sinew::Result<()> {
    let node = node();
    let drive = node.parameters::<Drive>()?;
    let before = drive.get();
    node.set_parameters([named("gain", 3.0), named("mode", "ask!"), named("limits.deep.n", 8)])?;
    node.set_parameter("current", 5)?;
    let now = drive.get();
    assert_eq!((now.gain, now.mode, now.limits.deep.n, now.current), (3.0, Mode::Ask, 8, Some(5)));
    assert_eq!(before.gain, 1.5, "one that was read stays as it was");
    for (value, reason) in [
        (named("offsets", vec![1.0]), "1 offsets, not 2"),
        (named("limits.speed", 6.0), "too fast"),
        (named("mode", "fly"), "parameter 'mode' is not set: \"fly\" is not one of: stop, go_around, ask!"),
        (
            named("mode", 1),
            "is of type string, and 1 is of type integer; a text in quotes, such as \"1\", would be right",
        ),
        (named("count", 70_000), "parameter 'count' can't be 70000: its range is 0 to 100, in steps of 4"),
        (named("fixed.speed", 1.0), "what its program was started with counts"),
    ] {
        let error = node.set_parameter(&value.name, value.value).unwrap_err().to_string();
        assert!(error.ends_with(reason), "{error}");
    }
    assert_eq!(drive.get(), now, "refused, nothing changes");
    Ok(())
}

#[test]
fn readers_never_see_half_a_change() -> sinew::Result<()> {
    #[derive(Parameters)]
    struct Two {
        a: i64,
        b: i64,
    }
    let node = node();
    let two = node.parameters::<Two>()?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..500_i64 {
                node.set_parameters([
                    named("a", ParameterValue::Integer(n)),
                    named("b", ParameterValue::Integer(-n)),
                ])
                .unwrap();
            }
        });
        for _ in 0..2000 {
            let now = two.get();
            assert_eq!(now.a, -now.b);
        }
    });
    Ok(())
}

#[test]
fn all_or_none_is_declared() -> sinew::Result<()> {
    let node = node();
    let _gain = node.parameter("limits.speed").default(1.0).create()?;
    assert!(node.parameters::<Drive>().is_err());
    assert_eq!(node.list_parameters(&[], 0), ["limits.speed", "use_sim_time"]);
    let left = node.parameters_under::<Drive>("left")?;
    let right = node.parameters_under::<Drive>("right")?;
    node.set_parameter("left.gain", 4.0)?;
    assert_eq!((left.get().gain, right.get().gain), (4.0, 1.5));
    assert_eq!(node.list_parameters(&["left.limits"], 0), ["left.limits.deep.n", "left.limits.speed"]);
    Ok(())
}

#[test]
fn what_is_given_from_outside_is_validated() {
    let with = |argument: &str| {
        let line = ["n", "--ros-args", "-p", argument];
        let context = Context::builder().arguments(line).shared_memory(false).domain(0).build().unwrap();
        context
            .node("n")
            .unwrap()
            .parameters::<Drive>()
            .map(|drive| drive.get())
            .map_err(|error| error.to_string())
    };
    assert_eq!(with("mode:=stop").unwrap().mode, Mode::Stop);
    assert_eq!(with("port:=/dev/null").unwrap().port, "/dev/null", "read-only ones count as well");
    for (argument, problem) in [
        ("mode:=fly", "\"fly\" is not one of"),
        ("offsets:=[1.5]", "1 offsets, not 2"),
        ("limits.speed:=9.0", "too fast"),
        ("gain:=11", "its range is 0.0 to 10.0"),
        ("gain:=fast", "it is of type double"),
    ] {
        let error = with(argument).unwrap_err();
        assert!(error.contains(problem), "{argument}: {error}");
    }
}

#[test]
fn without_a_default_a_value_must_be_given() {
    #[derive(Parameters, Debug)]
    struct Needs {
        mode: Mode, // has no `Default`
    }
    let error = node().parameters::<Needs>().map(drop).unwrap_err();
    assert!(error.to_string().contains("-p mode:=.."), "{error}");
}

#[test]
fn a_group_is_notified_of_changes() -> sinew::Result<()> {
    let room = Room::new();
    let drive = room.node.parameters::<Drive>()?;
    let log = Log::new();
    let pen = log.pen();
    let group = room.node.group(0);
    let changes = drive.on_change_in(&group, move |calls: &mut i32, drive: &Drive| {
        *calls += 1;
        pen.write((*calls, drive.gain, drive.mode));
    })?;
    room.node.set_parameter("gain", 2.0)?;
    room.node.set_parameter("mode", "stop")?;
    assert_eq!(log.lines(), [], "it runs in an executor");
    room.run();
    assert_eq!(log.lines(), [(1, 2.0, Mode::Stop)], "two changes, one call");
    room.node.parameter("other").default(1).create()?.set(2)?;
    room.run();
    assert_eq!(log.lines(), [], "another parameter");
    drop(changes);
    room.node.set_parameter("gain", 3.0)?;
    room.run();
    assert_eq!(log.lines(), []);
    Ok(())
}
