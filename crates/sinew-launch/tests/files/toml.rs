//! Sinew's own format.

use std::time::Duration;

use sinew_launch::supervisor::{RestartPolicy, Signal};
use sinew_launch::{Offer, Output, Word};

use super::{Place, SHARED, added, line, names};

#[test]
fn a_process_has_all_that_can_be_said_of_it() {
    let place = Place::new();
    let text = r#"
        [process.camera]
        package = "robot"
        program = "driver"
        args = "--rate 30 'two words'"
        ros_args = ["--log-level", "debug"]
        prefix = "gdb --args"
        node = "cam"
        namespace = "front"
        remap = { image = "left/image", "~/info" = "/info" }
        parameters = { rate = 30, ratio = 1.0, name = "yes", on = true, list = ["a", "1"] }
        env = { RUST_LOG = "info" }
        dir = "bin"
        output = "both"
        required = true
        restart = { policy = "always", delay = 0.25, max_delay = 2, max = 3, window = 10 }
        ready = { topic = "image", service = "/reset", node = "cam", delay = 0.5, timeout = 20 }
        signal = "SIGTERM"
        grace = 1.5
        grace_after_term = 2
    "#;
    let plan = place.plan("a.toml", text, &[]);
    let [camera] = plan.processes.as_slice() else { panic!("{plan:?}") };
    let driver = place.path().join("ros/lib/robot/driver").display().to_string();
    assert_eq!(
        line(camera),
        format!(
            "gdb --args {driver} --rate 30 two words --ros-args -r __node:=cam -r __ns:=/front -r image:=left/image -r ~/info:=/info \
             -p rate:=30 -p ratio:=1.0 -p name:=\"yes\" -p on:=true -p list:=[\"a\", \"1\"] --log-level debug"
        )
    );
    assert_eq!(camera.directory, Some(place.path().join("bin")));
    assert_eq!((camera.output, added(camera)), (Output::Both, [("RUST_LOG", "info")].into()));
    let offers = [
        Offer::Service("/reset".to_owned()),
        Offer::Topic("/front/image".to_owned()),
        Offer::Node("/front/cam".to_owned()),
    ];
    assert_eq!(camera.ready, offers);
    let policy = &camera.policy;
    assert!(policy.required && policy.waits_to_be_told && policy.signal == Signal::Term);
    assert_eq!(policy.ready_after, Duration::from_millis(500));
    assert_eq!(policy.ready_timeout, Some(Duration::from_secs(20)));
    assert_eq!(
        (policy.grace, policy.grace_after_term),
        (Duration::from_millis(1500), Duration::from_secs(2))
    );
    let restart = policy.restart;
    assert_eq!((restart.policy, restart.max), (RestartPolicy::Always, Some(3)));
    assert_eq!((restart.delay, restart.max_delay, restart.window).0, Duration::from_millis(250));
}

#[test]
fn arguments_conditions_and_substitutions() {
    let place = Place::new();
    let text = r#"
        [arguments]
        robot = "007"
        rate = 30
        mode = { default = "sim", description = "where it runs", choices = ["sim", "real"] }

        [process.sim]
        program = "talker"
        if = "$(eval '$(var rate) > 20 and \"$(var mode)\" == \"sim\"')"
        args = ["$(var robot)-$(env HOST) \\$(kept)", "$(env NONE 'de fault')", "$(find-pkg-share robot)"]
        parameters = { robot = "$(var robot)", rate = "$(var rate)", both = "$(var robot)$(var rate)" }

        [process.real]
        program = "talker"
        unless = "$(equals $(var mode) sim)"
    "#;
    let plan = place.plan("a.toml", text, &[]);
    assert_eq!(names(&plan), ["sim"]);
    let share = place.path().join("ros/share/robot").display().to_string();
    assert_eq!(
        line(&plan.processes[0]),
        format!(
            "talker 007-r2d2 $(kept) de fault {share} --ros-args -p robot:=\"007\" -p rate:=30 -p both:=\"00730\""
        )
    );
    let plan = place.plan("a.toml", text, &[("mode", "real"), ("rate", "5")]);
    assert_eq!(names(&plan), ["real"]);
    let mode = plan.arguments.iter().find(|argument| argument.name == "mode").unwrap();
    assert_eq!((mode.default.as_deref(), mode.value.as_deref()), (Some("sim"), Some("real")));
    assert_eq!(
        (mode.description.as_str(), mode.choices.as_slice()),
        ("where it runs", &["sim".to_owned(), "real".to_owned()][..])
    );
}

#[test]
fn groups_and_includes_give_names_namespaces_and_order() {
    let place = Place::new();
    place.write(
        "arm/arm.toml",
        r#"
        [arguments]
        side = {}
        [process.driver]
        program = "../bin/talker"
        args = ["$(var side)", "$(dirname)"]
        [process.planner]
        program = "talker"
        after = ["driver", "camera"]
        "#,
    );
    let text = r#"
        namespace = "robot"
        env = { A = "1" }
        remap = { tf = "/tf" }
        parameters = { use_sim_time = true }

        [process.camera]
        program = "talker"

        [group.arms]
        namespace = "arms"
        env = { B = "2" }
        after = ["camera"]
        [group.arms.include.left]
        file = "arm/arm.toml"
        namespace = "left"
        arguments = { side = "l" }
        [group.arms.include.right]
        file = "arm/arm.toml"
        namespace = "/right"
        arguments = { side = "r" }

        [process.last]
        program = "talker"
        after = ["arms", "off"]

        [process.off]
        program = "talker"
        if = false
    "#;
    let plan = place.plan("a.toml", text, &[]);
    let all = [
        "camera",
        "arms/left/driver",
        "arms/left/planner",
        "arms/right/driver",
        "arms/right/planner",
        "last",
    ];
    assert_eq!(names(&plan), all);
    let after: Vec<_> = plan.processes.iter().map(|process| process.policy.after.clone()).collect();
    assert_eq!(after, [vec![], vec![0], vec![0, 1], vec![0], vec![0, 3], vec![1, 2, 3, 4]]);
    let arm = place.path().join("arm").display().to_string();
    let common = "-r tf:=/tf -p use_sim_time:=true";
    assert_eq!(
        line(&plan.processes[1]),
        format!("talker l {arm} --ros-args -r __ns:=/robot/arms/left {common}")
    );
    assert_eq!(line(&plan.processes[3]), format!("talker r {arm} --ros-args -r __ns:=/right {common}"));
    assert_eq!(line(&plan.processes[5]), format!("talker --ros-args -r __ns:=/robot {common}"));
    assert_eq!(added(&plan.processes[1]), [("A", "1"), ("B", "2")].into());
    assert_eq!(added(&plan.processes[5]), [("A", "1")].into());
    for process in &plan.processes {
        assert_eq!(process.environment[SHARED], "tf:=/tf\n-p use_sim_time\n", "{}", process.name);
    }
}

#[test]
fn trees_of_parameters_go_into_a_file_and_files_before_values() {
    let place = Place::new();
    place.write("p.yaml", "/**: {ros__parameters: {rate: 1}}\n");
    let text = r#"
        [process.a]
        program = "talker"
        parameter_files = ["p.yaml", "$(find-pkg-share robot)/config.yaml"]
        [process.a.parameters]
        rate = 5
        [process.a.parameters.gains]
        p = 1e3
        d = [true, false]
        name = "a: \"b\"\n"
    "#;
    let plan = place.plan("a.toml", text, &[]);
    let words = &plan.processes[0].arguments;
    assert_eq!(words[2], Word::Text(place.path().join("p.yaml").display().to_string()));
    let Word::File(text) = &words[6] else { panic!("{words:?}") };
    let lines = "/**:\n  ros__parameters:\n    \"gains.d\": [true, false]\n    \"gains.name\": \"a: \\\"b\\\"\\n\"\n    \
                 \"gains.p\": 1000.0\n    \"rate\": 5\n";
    assert_eq!(text, lines);
}

#[test]
fn a_program_that_is_none_of_ros_2_s_is_left_alone() {
    let place = Place::new();
    let text = "namespace = 'x'\n[process.a]\nprogram = 'talker'\nros_args = false\nargs = '--x'\n";
    assert_eq!(line(&place.plan("a.toml", text, &[]).processes[0]), "talker --x");
}

#[test]
fn a_program_is_started_by_the_path_that_names_it() {
    let place = Place::new();
    for link in ["bin/python", "node"] {
        std::os::unix::fs::symlink(place.path().join("bin/talker"), place.path().join(link)).unwrap();
    }
    let text =
        "[process.a]\nprogram = './bin/python'\n[process.b]\nprogram = './node'\nprefix = 'bin/python'\n";
    let plan = place.plan("a.toml", text, &[]);
    let [a, b] = plan.processes.as_slice() else { panic!("{plan:?}") };
    let python = place.path().join("bin/python");
    assert_eq!((&a.program, &b.program), (&python, &python));
    assert_eq!(b.arguments, [Word::Text(place.path().join("node").display().to_string())]);
    assert_eq!(sinew_launch::find_program(&python.display().to_string(), None).unwrap(), python);
}

#[test]
fn components_are_named_on_the_command_line_of_their_container() {
    let place = Place::new();
    let text = r#"
        namespace = "robot"
        [process.sensors]
        program = "talker"
        remap = { image = "/image" }
        [process.sensors.components]
        camera = "drivers::Camera"
        "head/lidar" = "drivers::Lidar"
        "/clock" = "demo::Clock"
    "#;
    assert_eq!(
        line(&place.plan("a.toml", text, &[]).processes[0]),
        "talker --component drivers::Camera=/robot/camera --component drivers::Lidar=/robot/head/lidar \
         --component demo::Clock=/clock --ros-args -r __ns:=/robot -r image:=/image"
    );
}

#[test]
fn a_component_has_settings_of_its_own() {
    let place = Place::new();
    let text = r#"
        [arguments]
        clock = false
        [process.sensors]
        program = "talker"
        node = "container"
        parameters = { gain = 1 }
        [process.sensors.components.camera]
        type = "drivers::Camera"
        remap = { image = "left/image" }
        parameters = { rate = 30, frame = "on" }
        log_level = "debug"
        [process.sensors.components."head/lidar"]
        type = "drivers::Lidar"
        parameters = { beam.width = 0.5 }
        [process.sensors.components.clock]
        type = "demo::Clock"
        if = "$(var clock)"
    "#;
    let process = &place.plan("a.toml", text, &[]).processes[0];
    assert_eq!(
        line(process),
        "talker --component drivers::Camera=/camera --component drivers::Lidar=/head/lidar --ros-args \
         -r __node:=container -r /camera:image:=left/image -p gain:=1 -p /camera:rate:=30 -p /camera:frame:=\"on\" \
         --log-level camera:=debug --params-file {/head/lidar:\n  ros__parameters:\n    \"beam.width\": 0.5\n}"
    );
    let with_clock = line(&place.plan("a.toml", text, &[("clock", "true")]).processes[0]);
    assert!(with_clock.contains("--component demo::Clock=/clock"), "{with_clock}");
}
