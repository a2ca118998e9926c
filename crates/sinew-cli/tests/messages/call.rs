//! `service call`.

use std::io::{BufRead as _, BufReader};

use sinew::prelude::*;
use sinew_msg::{ServiceType, TypeHash};

use crate::{Base, Spinning, end_with_ctrl_c};

#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/srv/Grip_Request")]
pub(crate) struct GripRequest {
    width: f64,
}

#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/srv/Grip_Response")]
pub(crate) struct GripResponse {
    held: bool,
    objects: Vec<String>,
}

pub(crate) struct Grip;

impl Service for Grip {
    type Request = GripRequest;
    type Response = GripResponse;
    const TYPE: Option<&'static ServiceType> =
        Some(&ServiceType { name: "robot_msgs/srv/Grip", hash: TypeHash(GRIP) });
}

/// The hash of the definition below.
pub(crate) const GRIP: [u8; 32] = [
    0x56, 0xb5, 0xaa, 0xe8, 0x19, 0xe4, 0x4c, 0xb4, 0x29, 0xd8, 0x00, 0x4d, 0x90, 0xb2, 0xda, 0x52, 0x17,
    0x66, 0x40, 0xcf, 0x9c, 0x0b, 0x31, 0x84, 0x5f, 0x47, 0xca, 0xab, 0x5f, 0x0a, 0x75, 0xc3,
];
pub(crate) const GRIP_SRV: &str = "float64 width\n---\nbool held\nstring[] objects\n";

#[test]
fn a_service_is_called() {
    let base = Base::new();
    let context = base.context();
    let server = |request: &GripRequest| match request.width {
        width if width > 0.0 => {
            Ok(GripResponse { held: true, objects: vec!["cup".into(), format!("{width} m")] })
        }
        width => Err(format!("{width} m is no width")),
    };
    let _grip = context.node("hand").unwrap().server::<Grip>("grip").callback(server).unwrap();
    let _spinning = Spinning::new(&context);
    assert_eq!(
        base.text(&["service", "call", "/grip", "robot_msgs/srv/Grip", "{width: 0.25}"]),
        "held: true\nobjects:\n- cup\n- 0.25 m\n"
    );
    let told = base.text(&["service", "call", "grip", "width: 1", "--json"]);
    assert_eq!(told, "{\"held\":true,\"objects\":[\"cup\",\"1 m\"]}\n");
    assert_eq!(base.failure(&["service", "call", "grip"]), "sinew: /grip failed: 0 m is no width\n");
    let file = base.path().join("request.yaml");
    std::fs::write(&file, "width: 2\n").unwrap();
    let path = file.to_str().unwrap();
    let told = base.text(&["service", "call", "grip", "--file", path, "--json"]);
    assert_eq!(told, "{\"held\":true,\"objects\":[\"cup\",\"2 m\"]}\n");
    let input = std::fs::File::open(&file).unwrap();
    let told = base.command(&["service", "call", "grip", "robot_msgs/srv/Grip", "-"]).stdin(input).output();
    assert_eq!(crate::good(&told.unwrap()), "held: true\nobjects:\n- cup\n- 2 m\n");
    let other = base.failure(&["service", "call", "grip", "std_srvs/srv/SetBool", "{}"]);
    assert_eq!(other, "sinew: /grip has the type robot_msgs/srv/Grip, not std_srvs/srv/SetBool\n");
    let wrong = base.failure(&["service", "call", "grip", "{width: wide}"]);
    assert!(wrong.contains("`width`: found `wide`, expected a number"), "{wrong}");
    let nobody = base.failure(&["service", "call", "gripp", "--timeout", "0.1"]);
    assert!(nobody.contains("did you mean /grip?"), "{nobody}");
    let expected = "/gripp had no server in domain 0 within 0.1 s; did you mean /grip? (`sinew service list` lists the services)\n";
    assert!(nobody.ends_with(expected), "{nobody}");
}

#[test]
fn a_service_is_called_again_and_again() {
    let base = Base::new();
    let context = base.context();
    let mut calls = 0.0;
    let server = move |request: &GripRequest| {
        calls += 1.0;
        GripResponse { held: calls > request.width, objects: Vec::new() }
    };
    let _grip = context.node("hand").unwrap().server::<Grip>("grip").callback(server).unwrap();
    let _spinning = Spinning::new(&context);
    let mut child = base.start(&["service", "call", "grip", "width: 40", "--rate", "1000"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let answer = |held: bool| format!("held: {held} objects: [] ---");
    for call in 1..=100 {
        let told: Vec<String> = lines.by_ref().take(3).collect();
        assert_eq!(told.join(" "), answer(call > 40), "call {call}");
    }
    end_with_ctrl_c(child);
}

#[test]
fn what_is_wrong_is_told_before_any_wait() {
    let base = Base::new();
    let call =
        |type_name: &str, values: &str| base.failure(&["service", "call", "nobody", type_name, values]);
    assert_eq!(
        call("std_srvs/srv/SetBool", "{dat: true}"),
        "sinew: this is no std_srvs/srv/SetBool_Request: `dat`: std_srvs/srv/SetBool_Request has no such field, but `data`\n"
    );
    assert_eq!(
        call("std_srvs/SetBool", "{data: 5}"),
        "sinew: this is no std_srvs/srv/SetBool_Request: `data`: found `5`, expected `true` or `false` for `bool`\n"
    );
    let expected =
        "sinew: std_msgs/msg/String is of the kind `msg`, but services have types of the kind `srv`\n";
    assert_eq!(call("std_msgs/msg/String", "{}"), expected);
    let output = base.command(&["service", "call", "nobody", "-r", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
