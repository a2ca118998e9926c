//! `interface list`, `show` and so on.

use serde_json::Value;
use sinew_msg::TypeHash;

use crate::call::{GRIP, GRIP_SRV, Grip, GripRequest, GripResponse};
use crate::{Arm, Base, good};

#[test]
fn types_are_listed_and_shown() {
    let base = Base::new();
    let folder = base.define("robot_msgs", "srv/Grip.srv", GRIP_SRV);
    base.define(
        "robot_msgs",
        "msg/Tool.msg",
        "# What is held.\nuint8 NONE=0\nuint8 kind 0  # one of these\ngeometry_msgs/Point at\n",
    );
    let with = ["--interfaces", folder.as_str()];
    let list = base.text(&[&["interface", "list"], &with[..]].concat());
    assert!(
        list.contains("    robot_msgs/msg/Tool\n")
            && list.contains("Services:\n")
            && list.contains("    sensor_msgs/msg/Image\n")
    );
    let messages = base.text(&["interface", "list", "--only-srvs"]);
    assert!(!messages.contains("/msg/") && messages.contains("std_srvs/srv/SetBool"));

    let shown = base.text(&[&["interface", "show", "robot_msgs/Tool"], &with[..]].concat());
    let expected = "\
# What is held.
uint8 NONE=0
uint8 kind 0  # one of these
geometry_msgs/Point at
\tfloat64 x
\tfloat64 y
\tfloat64 z
";
    assert_eq!(shown, expected);
    let hash = base.text(&[&["interface", "hash", "robot_msgs/srv/Grip"], &with[..]].concat());
    assert_eq!(hash, format!("{}\n", TypeHash(GRIP)));
    let json: Value =
        serde_json::from_str(&base.text(&["interface", "show", "std_srvs/SetBool", "--json"])).unwrap();
    assert_eq!(json["type_description"]["type_name"], "std_srvs/srv/SetBool");

    // A broken package affects only its users.
    base.define("broken_msgs", "msg/A.msg", "int a\n");
    base.text(&[&["interface", "show", "robot_msgs/Tool"], &with[..]].concat());
    let broken = base.failure(&[&["interface", "show", "broken_msgs/A"], &with[..]].concat());
    assert!(broken.contains("broken_msgs/msg/A.msg:1:1: found `int`, expected a type"), "{broken}");
    let nothing = base.failure(&["interface", "list", "--interfaces", "/proc/self/fd"]);
    assert!(nothing.starts_with("sinew: /proc/self/fd has no interfaces"), "{nothing}");
}

#[test]
fn stubs_for_python_are_written() {
    let base = Base::new();
    let folder = base.define("robot_msgs", "srv/Grip.srv", GRIP_SRV);
    let tool = "uint8 NONE=0\nbyte END=255\nstring SIGN=\"a\\tb\"\nfloat32 from\nfloat32[] x\ngeometry_msgs/Point[] at\n";
    base.define("robot_msgs", "msg/Tool.msg", tool);
    let output = base.path().join("stubs");
    let path = output.display().to_string();
    let with = ["--interfaces", folder.as_str(), "--output", &path];
    let written =
        base.text(&[&["interface", "stubs", "robot_msgs", "example_interfaces"], &with[..]].concat());
    assert_eq!(written, "7 files written\n");
    let read = |file: &str| std::fs::read_to_string(output.join(file)).unwrap();
    assert_eq!(read("robot_msgs/__init__.pyi"), "from . import msg as msg\nfrom . import srv as srv\n");
    let tool = read("robot_msgs/msg.pyi");
    let expected = "from sinew.interfaces.geometry_msgs import msg as _geometry_msgs_msg

class Tool(_Message):
    NONE: _ClassVar[_b.int] = 0
    END: _ClassVar[_b.bytes] = b\"\\xff\"
    SIGN: _ClassVar[_b.str] = \"a\\U00000009b\"
    x: _Any  # float32[]
    at: _b.list[_geometry_msgs_msg.Point]  # geometry_msgs/Point[]
    def __init__(self, *, x: _Any = ..., at: _b.list[_geometry_msgs_msg.Point] = ...) -> None: ...
";
    assert!(tool.ends_with(expected), "{tool}");
    let action = read("example_interfaces/action.pyi");
    assert!(
        action.contains("\nclass Fibonacci:\n    class Goal(_Message):\n        order: _b.int"),
        "{action}"
    );
    assert!(
        action.contains("        class SendGoalService:\n            class Request(_Message):"),
        "{action}"
    );
    assert!(action.contains("        CancelGoalService = _action_msgs_srv.CancelGoal\n"), "{action}");

    let unknown = base.failure(&["interface", "stubs", "std_msg", "--output", &path]);
    assert!(unknown.contains("std_msg is not known") && unknown.contains("std_msgs"), "{unknown}");
}

#[test]
fn definitions_of_a_ros_2_installation_are_found() {
    let base = Base::new();
    base.define("share/tool_msgs", "msg/Tool.msg", "string name \"none\"\n");
    let mut command = base.command(&["interface", "show", "tool_msgs/msg/Tool"]);
    let output = command.env("AMENT_PREFIX_PATH", base.path().join("definitions")).output().unwrap();
    assert_eq!(good(&output), "string name \"none\"\n");
}

#[test]
fn comments_are_shown_as_they_are_written() {
    let base = Base::new();
    let tool = "# What is held.\n\nTip[] tips  # all of them\n#end\n---\nbool ok\n";
    let folder = base.define("robot_msgs", "srv/Hold.srv", tool);
    base.define("robot_msgs", "msg/Tip.msg", "# Of a tool.\n\nuint8 SOFT=1 # to the touch\nfloat64 x\n");
    let show = |options: &[&str]| {
        let arguments = ["interface", "show", "robot_msgs/Hold", "--interfaces", &folder];
        base.text(&[&arguments[..], options].concat())
    };
    assert_eq!(
        show(&[]),
        "# What is held.\n\nTip[] tips  # all of them\n\tuint8 SOFT=1\n\tfloat64 x\n#end\n---\nbool ok\n"
    );
    assert_eq!(
        show(&["--all-comments"]),
        "# What is held.\n\nTip[] tips  # all of them\n\t# Of a tool.\n\n\tuint8 SOFT=1 # to the touch\n\tfloat64 x\n\
         #end\n---\nbool ok\n"
    );
    assert_eq!(show(&["--no-comments"]), "Tip[] tips\n\tuint8 SOFT=1\n\tfloat64 x\n---\nbool ok\n");
}

#[test]
fn what_only_a_program_knows_is_shown() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("robot").unwrap();
    let _arms = node.publisher::<Arm>("arm").create().unwrap();
    let server = |_: &GripRequest| GripResponse::default();
    let _grip = node.server::<Grip>("grip").callback(server).unwrap();
    let told = "# From a type description, which has no constants, default values or comments.\n";
    let fields =
        "string name\nrobot_msgs/Joint[] joints\n\tfloat64 angle\n\tuint8[] limits\nfloat32[2] gains\n";
    let shown = base.text(&["interface", "show", "robot_msgs/msg/Arm"]);
    assert_eq!(shown, format!("{told}{fields}"));
    assert_eq!(base.text(&["interface", "show", "robot_msgs/msg/Arm", "--no-comments"]), fields);
    assert_eq!(base.text(&["interface", "show", "robot_msgs/srv/Grip"]), format!("{told}{GRIP_SRV}"));
    let proto = base.text(&["interface", "proto", "robot_msgs/msg/Arm"]);
    assert_eq!(proto, "name: ''\njoints: []\ngains:\n- 0.0\n- 0.0\n");
    assert_eq!(base.text(&["interface", "proto", "robot_msgs/srv/Grip"]), "width: 0.0\n");
}

#[test]
fn what_a_program_said_of_its_types_is_shown_when_it_is_gone() {
    let base = Base::new();
    let context = base.context();
    drop(context.node("robot").unwrap().publisher::<Arm>("arm").create().unwrap());
    drop(context);
    let fields =
        "string name\nrobot_msgs/Joint[] joints\n\tfloat64 angle\n\tuint8[] limits\nfloat32[2] gains\n";
    assert_eq!(base.text(&["interface", "show", "robot_msgs/msg/Arm", "--no-comments"]), fields);
    // Also a type that is only nested in another one.
    let joint = base.text(&["interface", "show", "robot_msgs/Joint", "--no-comments"]);
    assert_eq!(joint, "float64 angle\nuint8[] limits\n");
    let hash = base.text(&["interface", "hash", "robot_msgs/msg/Arm"]);
    assert!(hash.starts_with("RIHS01_"), "{hash}");
    let unknown = base.failure(&["interface", "show", "robot_msgs/msg/Amr"]);
    assert!(unknown.ends_with("; did you mean robot_msgs/msg/Arm?\n"), "{unknown}");
    let unknown = base.failure(&["interface", "show", "robot_msgs/msg/Gripper"]);
    assert!(unknown.ends_with("; --interfaces DIR adds definitions\n"), "nothing is like it: {unknown}");
}

#[test]
fn packages_are_listed() {
    let base = Base::new();
    let packages = base.text(&["interface", "packages"]);
    assert_eq!(packages.lines().count(), 24);
    assert!(
        packages.contains("std_srvs\n") && !base.text(&["interface", "packages", "-m"]).contains("std_srvs")
    );
    let expected = "std_srvs/srv/Empty\nstd_srvs/srv/SetBool\nstd_srvs/srv/Trigger\n";
    assert_eq!(base.text(&["interface", "package", "std_srvs"]), expected);
    let json = base.text(&["interface", "package", "std_srvs", "--json"]);
    assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap().len(), 3);
    let unknown = base.failure(&["interface", "package", "std_msg"]);
    assert!(unknown.starts_with("sinew: the package std_msg is not known (looked at: "), "{unknown}");
    assert!(unknown.ends_with("; did you mean std_msgs?\n"), "{unknown}");
    let unknown = base.failure(&["interface", "show", "Header"]);
    assert!(unknown.ends_with("; did you mean std_msgs/msg/Header?\n"), "{unknown}");
}

#[test]
fn types_that_are_too_long_to_show_are_refused() {
    let base = Base::new();
    let mut folder = base.define("wide_msgs", "msg/T20.msg", "uint8 a\n");
    for number in 0..20 {
        let next = number + 1;
        folder = base.define("wide_msgs", &format!("msg/T{number}.msg"), &format!("T{next} a\nT{next} b\n"));
    }
    // Its request has no definition of its own: it is shown from a description.
    base.define("wide_msgs", "srv/S.srv", "T0 a\n---\n");
    let with = ["--interfaces", folder.as_str()];
    for name in ["wide_msgs/msg/T0", "wide_msgs/srv/S", "wide_msgs/srv/S_Request"] {
        let refused = base.failure(&[&["interface", "show", name], &with[..]].concat());
        assert!(refused.starts_with("sinew: wide_msgs/msg/T"), "{refused}");
        let expected = "with all that is in it is longer than 1048576 bytes, so it is not shown; ";
        assert!(refused.contains(expected), "{refused}");
    }
    let json = base.text(&[&["interface", "show", "wide_msgs/msg/T0", "--json"], &with[..]].concat());
    assert_eq!(json.matches("\"type_name\": \"wide_msgs/msg/T").count(), 21);
    let small = base.text(&[&["interface", "show", "wide_msgs/msg/T18"], &with[..]].concat());
    assert_eq!(small.lines().count(), 2 + 4 + 4);
}

#[test]
fn types_that_lie_too_deep_are_refused() {
    let base = Base::new();
    let mut folder = base.define("deep_msgs", "msg/T65.msg", "uint8 a\n");
    for number in 1..65 {
        folder = base.define("deep_msgs", &format!("msg/T{number}.msg"), &format!("T{} a\n", number + 1));
    }
    let with = ["--interfaces", folder.as_str()];
    let refused = base.failure(&[&["interface", "show", "deep_msgs/msg/T1"], &with[..]].concat());
    let expected = "sinew: deep_msgs/msg/T65 is nested too deeply: at most 64 types may be nested\n";
    assert_eq!(refused, expected);
    let shown = base.text(&[&["interface", "show", "deep_msgs/msg/T2"], &with[..]].concat());
    assert_eq!(shown.lines().count(), 64);
}
