//! ROS 2's formats: the same file in XML and YAML yields the same plan.

use sinew_launch::supervisor::RestartPolicy;
use sinew_launch::{Output, Plan};

use super::{Place, added, line, names};

const XML: &str = r#"<?xml version="1.0"?>
<launch>
  <!-- what a user may set -->
  <arg name="robot" default="r1" description="its name"/>
  <arg name="sim" default="true"><choice value="true"/><choice value="false"/></arg>
  <let name="full" value="$(var robot)_full"/>
  <set_env name="MODE" value="$(var full)"/>
  <group>
    <push_ros_namespace namespace="$(var robot)"/>
    <set_parameter name="use_sim_time" value="$(var sim)"/>
    <set_remap from="tf" to="/tf"/>
    <node pkg="robot" exec="driver" name="driver" namespace="front" args="--rate '3 0'" output="screen"
          respawn="true" respawn_delay="2.5" respawn_max_retries="4" ros_args="--log-level debug">
      <param name="rate" value="30"/>
      <param name="scale" value="2" type="float"/>
      <param name="text" value="1" type="str"/>
      <param name="names" value="a, b" value-sep=","/>
      <param name="list" value="[1, 2]"/>
      <param name="gains"><param name="p" value="1.5"/><param name="i"><param name="max" value="off"/></param></param>
      <param from="$(find-pkg-share robot)/config.yaml"/>
      <remap from="image" to="camera/image"/>
      <env name="INNER" value="1"/>
    </node>
  </group>
  <unset_env name="MODE"/>
  <executable cmd="talker --x 'y z'" cwd="bin" name="t" unless="$(eval '\'$(var sim)\' == \'false\'')"/>
  <include file="$(dirname)/sub.launch.xml" if="$(var sim)">
    <arg name="side" value="left"/>
  </include>
  <node pkg="robot" exec="driver"/>
  <node pkg="robot" exec="driver" on_exit="shutdown"/>
</launch>
"#;

const YAML: &str = r#"
launch:
- arg: {name: robot, default: r1, description: its name}
- arg:
    name: sim
    default: "true"
    choice:
    - value: "true"
    - value: "false"
- let: {name: full, value: $(var robot)_full}
- set_env: {name: MODE, value: $(var full)}
- group:
  - push-ros-namespace: {namespace: $(var robot)}
  - set_parameter: {name: use_sim_time, value: $(var sim)}
  - set_remap: {from: tf, to: /tf}
  - node:
      pkg: robot
      exec: driver
      name: driver
      namespace: front
      args: --rate '3 0'
      output: screen
      respawn: true
      respawn_delay: 2.5
      respawn_max_retries: 4
      ros_args: --log-level debug
      param:
      - {name: rate, value: 30}
      - {name: scale, value: 2, type: float}
      - {name: text, value: "1"}
      - {name: names, value: [a, b]}
      - {name: list, value: [1, 2]}
      - name: gains
        param:
        - {name: p, value: 1.5}
        - name: i
          param:
          - {name: max, value: off}
      - from: $(find-pkg-share robot)/config.yaml
      remap:
      - {from: image, to: camera/image}
      env:
      - {name: INNER, value: "1"}
- unset_env: {name: MODE}
- executable:
    cmd: talker --x 'y z'
    cwd: bin
    name: t
    unless: $(eval '\'$(var sim)\' == \'false\'')
- include:
    file: $(dirname)/sub.launch.xml
    if: $(var sim)
    arg:
    - {name: side, value: left}
- node: {pkg: robot, exec: driver}
- node: {pkg: robot, exec: driver, on_exit: shutdown}
"#;

const SUB: &str = r#"
<launch>
  <arg name="side"/>
  <arg name="depth" default="1"/>
  <executable cmd="talker $(var side) $(var robot) $(var depth)"/>
</launch>
"#;

fn both(arguments: &[(&str, &str)]) -> (Place, Plan) {
    let place = Place::new();
    place.write("sub.launch.xml", SUB);
    let (xml, yaml) =
        (place.plan("a.launch.xml", XML, arguments), place.plan("a.launch.yaml", YAML, arguments));
    let all = |plan: &Plan| {
        let one = |process: &sinew_launch::Process| {
            let environment = process.environment.clone();
            (process.name.clone(), line(process), process.policy.clone(), process.output, environment)
        };
        plan.processes.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(all(&xml), all(&yaml));
    (place, xml)
}

#[test]
fn nodes_have_what_the_file_gives_them() {
    let (place, plan) = both(&[]);
    assert_eq!(names(&plan), ["driver", "t", "talker", "driver-2", "driver-3"]);
    let config = place.path().join("ros/share/robot/config.yaml").display().to_string();
    let values = "/**:\n  ros__parameters:\n    \"gains.i.max\": false\n    \"gains.p\": 1.5\n    \"list\": [1, 2]\n    \
                  \"names\": [\"a\", \"b\"]\n    \"rate\": 30\n    \"scale\": 2.0\n    \"text\": \"1\"\n    \"use_sim_time\": true\n";
    assert_eq!(
        line(&plan.processes[0]),
        format!(
            "driver --rate 3 0 --ros-args -r __node:=driver -r __ns:=/r1/front -r image:=camera/image -r tf:=/tf \
             --params-file {{{values}}} --params-file {config} --log-level debug"
        )
    );
    let driver = &plan.processes[0];
    assert_eq!(added(driver), [("INNER", "1"), ("MODE", "r1_full")].into());
    assert_eq!(driver.output, Output::Screen);
    let restart = driver.policy.restart;
    assert_eq!(
        (restart.policy, restart.max, restart.delay.as_millis()),
        (RestartPolicy::Always, Some(4), 2500)
    );
    assert_eq!(restart.max_delay, restart.delay);
    assert_eq!(
        (line(&plan.processes[1]).as_str(), &plan.processes[1].directory),
        ("talker --x y z", &Some(place.path().join("bin")))
    );
    assert_eq!(line(&plan.processes[2]), "talker left r1 1");
    assert_eq!(added(&plan.processes[2]), [].into());
    assert!(!plan.processes[3].policy.required && plan.processes[4].policy.required);
    assert_eq!(plan.processes[3].output, Output::Log);
}

#[test]
fn arguments_reach_included_files() {
    let (_, plan) = both(&[("depth", "9"), ("robot", "r7")]);
    assert_eq!(line(&plan.processes[2]), "talker left r7 9");
    let (_, plan) = both(&[("sim", "false")]);
    assert_eq!(names(&plan), ["driver", "driver-2", "driver-3"]);
}

#[test]
fn what_a_group_sets_ends_with_it_unless_it_is_not_scoped() {
    let place = Place::new();
    let text = |scoped: &str| {
        format!(
            "<launch><group scoped=\"{scoped}\"><push_ros_namespace namespace=\"a\"/><set_env name=\"X\" value=\"1\"/></group>\
             <node pkg=\"robot\" exec=\"driver\"/></launch>"
        )
    };
    let plan = place.plan("a.xml", &text("true"), &[]);
    assert_eq!((line(&plan.processes[0]).as_str(), added(&plan.processes[0])), ("driver", [].into()));
    let plan = place.plan("a.xml", &text("false"), &[]);
    assert_eq!(line(&plan.processes[0]), "driver --ros-args -r __ns:=/a");
    assert_eq!(added(&plan.processes[0]), [("X", "1")].into());
}

#[test]
fn a_parameter_file_may_have_substitutions() {
    let place = Place::new();
    place.write("p.yaml", "/**: {ros__parameters: {host: $(env HOST)}}\n");
    let text = "<launch><node pkg=\"robot\" exec=\"driver\"><param from=\"p.yaml\" allow_substs=\"true\"/></node></launch>";
    let plan = place.plan("a.xml", text, &[]);
    assert!(line(&plan.processes[0]).contains("{/**: {ros__parameters: {host: r2d2}}\n}"));
}

#[test]
fn a_container_takes_in_its_components() {
    let xml = r#"
<launch>
  <arg name="lidar" default="false"/>
  <push_ros_namespace namespace="robot"/>
  <node_container pkg="robot" exec="driver" name="box" namespace="own" output="screen">
    <composable_node pkg="drivers" plugin="drivers::Camera" name="camera" namespace="left">
      <remap from="image" to="raw"/>
      <param name="rate" value="30"/>
      <extra_arg name="use_intra_process_comms" value="true"/>
    </composable_node>
    <composable_node pkg="drivers" plugin="drivers::Lidar" name="lidar" if="$(var lidar)"/>
  </node_container>
</launch>
"#;
    let yaml = r#"
launch:
- arg: {name: lidar, default: "false"}
- push_ros_namespace: {namespace: robot}
- node_container:
    pkg: robot
    exec: driver
    name: box
    namespace: own
    output: screen
    composable_node:
    - pkg: drivers
      plugin: drivers::Camera
      name: camera
      namespace: left
      remap:
      - {from: image, to: raw}
      param:
      - {name: rate, value: 30}
      extra_arg:
      - {name: use_intra_process_comms, value: "true"}
    - {pkg: drivers, plugin: drivers::Lidar, name: lidar, if: $(var lidar)}
"#;
    for (name, text) in [("a.launch.xml", xml), ("a.launch.yaml", yaml)] {
        let place = Place::new();
        assert_eq!(
            line(&place.plan(name, text, &[]).processes[0]),
            "driver --component drivers::Camera=/robot/left/camera --ros-args -r __node:=box -r __ns:=/robot/own \
             -r /robot/left/camera:image:=raw -p /robot/left/camera:rate:=30"
        );
        let both = line(&place.plan(name, text, &[("lidar", "true")]).processes[0]);
        assert!(both.contains("--component drivers::Lidar=/robot/lidar"), "{both}");
    }
}

#[test]
fn components_are_loaded_into_a_container_written_elsewhere() {
    let xml = r#"
<launch>
  <group>
    <push_ros_namespace namespace="robot"/>
    <set_remap from="image" to="shown"/>
    <set_parameter name="rate" value="10"/>
    <load_composable_node target="box">
      <composable_node pkg="drivers" plugin="drivers::Camera" name="camera" namespace="left">
        <remap from="info" to="told"/>
        <param name="rate" value="30"/>
      </composable_node>
    </load_composable_node>
  </group>
  <node_container pkg="robot" exec="driver" name="box" namespace="robot">
    <remap from="a" to="b"/>
    <composable_node pkg="drivers" plugin="drivers::Lidar" name="lidar"/>
  </node_container>
  <load_composable_node target="/robot/box" unless="1">
    <composable_node pkg="drivers" plugin="drivers::Other" name="other"/>
  </load_composable_node>
</launch>
"#;
    let yaml = r#"
launch:
- node_container:
    pkg: robot
    exec: driver
    name: box
    namespace: robot
    remap:
    - {from: a, to: b}
    composable_node:
    - {pkg: drivers, plugin: drivers::Lidar, name: lidar}
- group:
  - push_ros_namespace: {namespace: robot}
  - set_remap: {from: image, to: shown}
  - set_parameter: {name: rate, value: 10}
  - load_composable_node:
      target: /robot/box
      composable_node:
      - pkg: drivers
        plugin: drivers::Camera
        name: camera
        namespace: left
        remap:
        - {from: info, to: told}
        param:
        - {name: rate, value: 30}
"#;
    for (name, text) in [("a.launch.xml", xml), ("a.launch.yaml", yaml)] {
        assert_eq!(
            line(&Place::new().plan(name, text, &[]).processes[0]),
            "driver --component drivers::Lidar=/lidar --component drivers::Camera=/robot/left/camera --ros-args -r __node:=box \
             -r __ns:=/robot -r /robot/left/camera:info:=told -r /robot/left/camera:image:=shown -r a:=b \
             -p /robot/left/camera:rate:=10 -p /robot/left/camera:rate:=30"
        );
    }
}

#[test]
fn containers_of_ros_2_are_sinews() {
    let text = r#"
<launch>
  <node_container pkg="rclcpp_components" exec="component_container_mt" name="box" args="--library ./libarm.so">
    <composable_node pkg="drivers" plugin="drivers::Camera" name="camera"/>
  </node_container>
  <load_composable_node target="box">
    <composable_node pkg="arms" plugin="arms::Arm" name="arm"/>
  </load_composable_node>
</launch>
"#;
    let place = Place::new();
    assert_eq!(
        line(&place.plan("a.launch.xml", text, &[]).processes[0]),
        "sinew-container --library ./libarm.so --threads=all --package drivers --component drivers::Camera=/camera \
         --package arms --component arms::Arm=/arm --ros-args -r __node:=box"
    );
    let text = "[process.sensors]\nprogram = \"sinew-container\"\n[process.sensors.components.camera]\n\
                type = \"drivers::Camera\"\npackage = \"./libdrivers.so\"\n";
    assert_eq!(
        line(&place.plan("a.toml", text, &[]).processes[0]),
        "sinew-container --package ./libdrivers.so --component drivers::Camera=/camera"
    );
}
