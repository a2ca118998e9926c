//! What clients ask for besides topics.

use crate::client::Viewer;
use crate::world::World;
use serde_json::{Value, json};
use sinew::prelude::*;
use sinew_bag::Schema;
use sinew_interfaces::rcl_interfaces::msg::{
    Parameter, ParameterDescriptor, ParameterEvent, ParameterType, ParameterValue,
};
use sinew_interfaces::rcl_interfaces::srv::{
    DescribeParameters, DescribeParametersRequest, DescribeParametersResponse, GetParameters,
    GetParametersRequest, GetParametersResponse, ListParameters, ListParametersRequest,
    ListParametersResponse,
};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_interfaces::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use sinew_view::TypeDefinition;

/// Longer than anything takes that succeeds.
const PATIENCE: Duration = Duration::from_secs(60);

fn encoded<T: Message>(message: &T) -> Vec<u8> {
    let encoding = T::ENCODING.unwrap();
    let mut bytes = vec![0; (encoding.size)(message)];
    (encoding.encode)(message, &mut bytes);
    bytes
}

fn advertise(viewer: &mut Viewer, id: u32, encoding: &str, type_name: &str) {
    let channel = json!({ "id": id, "topic": "/goal", "encoding": encoding, "schemaName": type_name });
    viewer.send(json!({ "op": "advertise", "channels": [channel] }));
}

#[test]
fn clients_publish_where_that_is_allowed() {
    let world = World::with(|builder| builder.allow_publish(true));
    let goals = world.node.subscription::<Text>("goal").create().unwrap();
    let mut viewer = world.viewer();
    assert_eq!(viewer.info["supportedEncodings"], json!(["cdr", "json"]));
    advertise(&mut viewer, 1, "cdr", "std_msgs/msg/String");
    advertise(&mut viewer, 2, "json", "std_msgs/String");
    assert!(goals.wait_for_publishers(2, PATIENCE));
    viewer.send_binary(1, &[1], &encoded(&Text { data: "by cdr".to_owned() }));
    viewer.send_binary(1, &[2], br#"{"data":"by json"}"#);
    viewer.send_binary(1, &[1], &[0, 1, 0, 0, 255, 0, 0, 0]);
    viewer.status("a message isn't published: /goal");
    viewer.send_binary(1, &[2], br#"{"date":"7"}"#);
    viewer.status("a message isn't published: /goal");
    assert!(goals.bring_in(PATIENCE));
    let mut texts: Vec<String> =
        std::iter::from_fn(|| goals.take()).map(|(text, _)| text.data.clone()).collect();
    texts.sort();
    assert_eq!(texts, ["by cdr", "by json"]);

    advertise(&mut viewer, 3, "protobuf", "std_msgs/msg/String");
    viewer.status("protobuf");
    advertise(&mut viewer, 4, "cdr", "other_msgs/msg/Unheard");
    viewer.status("other_msgs/msg/Unheard is not known");
    advertise(&mut viewer, 1, "cdr", "std_msgs/msg/String");
    viewer.status("has a channel 1 already");
    viewer.send(json!({ "op": "unadvertise", "channelIds": [1, 2] }));
    let mut changes = world.node.graph().changes();
    while goals.publisher_count() > 0 {
        changes.wait(PATIENCE);
    }
}

#[test]
fn a_message_that_would_take_too_much_memory_is_refused() {
    let world = World::with(|builder| builder.allow_publish(true));
    let goals = world.node.subscription::<ParameterEvent>("goal").create().unwrap();
    let mut viewer = world.viewer();
    advertise(&mut viewer, 1, "json", "rcl_interfaces/msg/ParameterEvent");
    assert!(goals.wait_for_publishers(1, PATIENCE));
    let text = |count: usize| format!(r#"{{"new_parameters":[{}{{}}]}}"#, "{},".repeat(count - 1));
    viewer.send_binary(1, &[1], text(200_000).as_bytes());
    viewer.status(
        "/goal: `new_parameters`: from here on, the message takes more than 67108864 bytes of memory",
    );
    viewer.send_binary(1, &[1], text(1000).as_bytes());
    viewer.settle();
    assert!(goals.bring_in(PATIENCE));
    assert_eq!(goals.take().unwrap().0.new_parameters.len(), 1000);
}

#[test]
fn clients_publish_only_on_topics_that_are_shown() {
    let advertise = |viewer: &mut Viewer, topic: &str| {
        let channel = json!({ "id": 1, "topic": topic, "encoding": "cdr", "schemaName": "std_msgs/String" });
        viewer.send(json!({ "op": "advertise", "channels": [channel] }));
    };
    for has_hidden in [false, true] {
        let world =
            World::with(|builder| builder.allow_publish(true).exclude_topics("/secret").hidden(has_hidden));
        let hidden = world.node.subscription::<Text>("_hidden").create().unwrap();
        let secret = world.node.subscription::<Text>("secret").create().unwrap();
        let mut viewer = world.viewer();
        let refused = if has_hidden { &["/secret", "secret"][..] } else { &["/secret", "/_hidden", "~/a"] };
        for topic in refused {
            advertise(&mut viewer, topic);
            viewer.status(&format!("can't publish on {topic}: this server doesn't show it"));
        }
        advertise(&mut viewer, "_hidden");
        match has_hidden {
            true => assert!(hidden.wait_for_publishers(1, PATIENCE)),
            false => drop(viewer.status("can't publish on _hidden")),
        }
        assert_eq!(secret.publisher_count(), 0);
    }
}

#[test]
fn nothing_is_published_called_or_set_by_default() {
    let world = World::new();
    let _rate = world.node.parameter("rate").default(30).create().unwrap();
    let _server = switch(&world);
    let mut viewer = world.viewer();
    advertise(&mut viewer, 1, "cdr", "std_msgs/msg/String");
    viewer.status("can't publish on /goal: this server was not started with that");
    let parameters = json!([{ "name": "/robot.rate", "value": 60 }]);
    viewer.send(json!({ "op": "setParameters", "parameters": parameters, "id": "a" }));
    viewer.status("can't be set through this server");
    viewer.send_binary(2, &[1, 1, 3], b"cdr");
    viewer.text("serviceCallFailure");
}

fn switch(world: &World) -> Server<SetBool> {
    let server = world.node.server::<SetBool>("switch");
    server
        .callback(|request: &SetBoolRequest| SetBoolResponse {
            success: request.data,
            message: format!("was {}", request.data),
        })
        .unwrap()
}

fn call(viewer: &mut Viewer, service: &Value, call: u32, encoding: &str, bytes: &[u8]) {
    let id = u32::try_from(service["id"].as_u64().unwrap()).unwrap();
    let length = u32::try_from(encoding.len()).unwrap();
    viewer.send_binary(2, &[id, call, length], &[encoding.as_bytes(), bytes].concat());
}

#[test]
fn services_are_called() {
    let world = World::with(|builder| builder.allow_services(true));
    let server = switch(&world);
    let mut viewer = world.viewer();
    let service = viewer.service("/switch");
    assert_eq!(service["type"], "std_srvs/srv/SetBool");
    assert_eq!(service["request"]["schemaName"], "std_srvs/srv/SetBool_Request");
    assert_eq!(service["request"]["schema"], "bool data\n");
    assert_eq!(service["response"]["schema"], "bool success\nstring message\n");
    let id = u32::try_from(service["id"].as_u64().unwrap()).unwrap();
    world.spinning(|| {
        call(&mut viewer, &service, 5, "cdr", &encoded(&SetBoolRequest { data: true }));
        let response = SetBoolResponse { success: true, message: "was true".to_owned() };
        let head = [&[3][..], &id.to_le_bytes(), &5_u32.to_le_bytes(), &3_u32.to_le_bytes(), b"cdr"].concat();
        assert_eq!(viewer.binary(3), [head, encoded(&response)].concat());

        call(&mut viewer, &service, 6, "json", br#"{"data":false}"#);
        let head =
            [&[3][..], &id.to_le_bytes(), &6_u32.to_le_bytes(), &4_u32.to_le_bytes(), b"json"].concat();
        let frame = viewer.binary(3);
        assert_eq!(frame[..head.len()], head);
        let response: Value = serde_json::from_slice(&frame[head.len()..]).unwrap();
        assert_eq!(response, json!({ "success": false, "message": "was false" }));
    });
    for (number, encoding, bytes) in [(7, "cdr", &[][..]), (8, "json", b"{"), (9, "xml", b"")] {
        call(&mut viewer, &service, number, encoding, bytes);
        assert_eq!(viewer.text("serviceCallFailure")["callId"], number);
    }
    drop(server);
    assert_eq!(viewer.text("unadvertiseServices")["serviceIds"], json!([service["id"]]));
}

#[test]
fn services_and_topics_show_a_type_with_the_same_text() {
    let description = ParameterDescriptor::ENCODING.unwrap().description.unwrap().describe().unwrap();
    let Schema { encoding, text } = Schema::of(&description);
    let text = format!("bool YES=true\n{text}");
    let known = TypeDefinition { description, schema: Some(Schema { encoding, text: text.clone() }) };
    let world = World::with(move |builder| {
        let find =
            move |name: &str, _| (name == "rcl_interfaces/msg/ParameterDescriptor").then(|| known.clone());
        builder.allow_services(true).definitions(find)
    });
    let _server = world
        .node
        .server::<DescribeParameters>("describe")
        .callback(|_: &DescribeParametersRequest| DescribeParametersResponse::default())
        .unwrap();
    let _topic = world.node.publisher::<ParameterDescriptor>("descriptor").create().unwrap();
    let mut viewer = world.viewer();
    assert_eq!(viewer.channel("/descriptor")["schema"], text);
    let service = viewer.service("/describe");
    assert_eq!(service["request"]["schema"], "string[] names\n");
    // The same sections, in the order of names; the types in the topic's have none of their own.
    let separator = format!("\n{}\n", "=".repeat(80));
    let head = format!("MSG: rcl_interfaces/ParameterDescriptor\n{text}");
    let mut expected: Vec<&str> = head.split(&separator).collect();
    expected.sort_unstable();
    expected.insert(0, "rcl_interfaces/ParameterDescriptor[] descriptors\n");
    let response = service["response"]["schema"].as_str().unwrap();
    let mut shown: Vec<&str> = response.split(&separator).collect();
    shown[1..].sort_unstable();
    assert_eq!(shown, expected);
}

#[test]
fn a_client_has_a_limit_of_open_calls() {
    let world = World::with(|builder| builder.allow_services(true));
    let _server = switch(&world); // nobody runs it
    let mut viewer = world.viewer();
    let service = viewer.service("/switch");
    for number in 1..=65 {
        call(&mut viewer, &service, number, "cdr", &encoded(&SetBoolRequest::default()));
    }
    let failure = viewer.text("serviceCallFailure");
    assert_eq!(failure["callId"], 65);
    assert!(failure["message"].as_str().unwrap().contains("too many calls"));
}

fn value(text: &Value, name: &str) -> Value {
    let parameters = text["parameters"].as_array().unwrap();
    parameters.iter().find(|parameter| parameter["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn parameters_are_read_set_and_watched() {
    let world = World::with(|builder| builder.allow_parameters(true).exclude_parameters("/robot.secret"));
    let rate = world.node.parameter("rate").default(30).create().unwrap();
    let _gain = world.node.parameter("pid.gain").default(2.0).create().unwrap();
    let _secret = world.node.parameter("secret").default("x".to_owned()).create().unwrap();
    let mut viewer = world.viewer();
    viewer.send(json!({ "op": "subscribeParameterUpdates", "parameterNames": ["/robot.rate"] }));
    world.spinning(|| {
        viewer.send(json!({ "op": "getParameters", "parameterNames": [], "id": "all" }));
        let all = viewer.text("parameterValues");
        assert_eq!(all["id"], "all");
        assert_eq!(value(&all, "/robot.rate"), json!({ "name": "/robot.rate", "value": 30 }));
        assert_eq!(value(&all, "/robot.pid.gain")["type"], "float64");
        assert!(value(&all, "/robot.secret").is_null());

        let names = json!(["/robot.rate", "/robot.nothing", "/robot.secret", "/gone.rate"]);
        viewer.send(json!({ "op": "getParameters", "parameterNames": names, "id": "some" }));
        let some = viewer.text_where("parameterValues", |text| text["id"] == "some");
        assert_eq!(some["parameters"], json!([{ "name": "/robot.rate", "value": 30 }]));
        viewer.status("nothing");
        viewer.status("/robot.secret isn't shown");
        viewer.status("there is no node /gone that serves its parameters");

        let set =
            json!([{ "name": "/robot.rate", "value": 60 }, { "name": "/robot.pid.gain", "value": "no" }]);
        viewer.send(json!({ "op": "setParameters", "parameters": set, "id": "set" }));
        let now = viewer.text_where("parameterValues", |text| text["id"] == "set");
        assert_eq!(value(&now, "/robot.rate")["value"], 60);
        assert_eq!(value(&now, "/robot.pid.gain")["value"], 2.0);
        viewer.status("/robot.pid.gain isn't set");
        let watched = viewer.text_where("parameterValues", |text| text["id"].is_null());
        assert_eq!(watched["parameters"], json!([{ "name": "/robot.rate", "value": 60 }]));
        assert_eq!(rate.get(), 60);
    });
}

#[test]
fn changes_of_parameters_are_told_though_too_many_requests_wait() {
    let world = World::with(|builder| builder.allow_services(true));
    let slow = world.node.server::<GetParameters>("/slow/get_parameters");
    let _slow = slow.callback(|_: &GetParametersRequest| GetParametersResponse::default()).unwrap();
    let slow = world.node.server::<ListParameters>("/slow/list_parameters");
    let _listed = slow.callback(|_: &ListParametersRequest| ListParametersResponse::default()).unwrap();
    let events = world.node.publisher::<ParameterEvent>("/parameter_events");
    let events = events.qos(QoS::parameter_events()).create().unwrap();
    let mut viewer = world.viewer();
    viewer.service("/slow/list_parameters");
    viewer.send(json!({ "op": "subscribeParameterUpdates", "parameterNames": ["/robot.rate"] }));
    assert!(events.wait_for_subscribers(1, PATIENCE));
    let get = |name: &str, id: &str| json!({ "op": "getParameters", "parameterNames": [name], "id": id });
    viewer.send(get("/slow.rate", "slow")); // nobody runs its node
    (0..70).for_each(|_| viewer.send(get("none", "quick")));
    viewer.status("8 of this viewer wait");
    let mut other = world.viewer();
    other.send(get("none", "other"));
    let value = ParameterValue {
        r#type: ParameterType::PARAMETER_INTEGER,
        integer_value: 60,
        ..ParameterValue::default()
    };
    let changed = Parameter { name: "rate".to_owned(), value };
    let event =
        ParameterEvent { node: "/robot".to_owned(), changed_parameters: vec![changed], ..Default::default() };
    events.publish(event).unwrap();
    let told = viewer.text_where("parameterValues", |text| text["id"].is_null());
    assert_eq!(told["parameters"], json!([{ "name": "/robot.rate", "value": 60 }]));
    // Another viewer's request isn't dropped.
    assert_eq!(other.text("parameterValues")["id"], "other");
}

#[test]
fn the_graph_is_told_on_request() {
    let world = World::new();
    let publisher = world.node.publisher::<Text>("news").create().unwrap();
    let _subscription = world.node.subscription::<Text>("goal").create().unwrap();
    let other = world.other_context();
    let mut viewer = world.viewer();
    viewer.channel("/news");
    viewer.send(json!({ "op": "subscribeConnectionGraph" }));
    let has = |text: &Value, member: &str, one: Value| text[member].as_array().unwrap().contains(&one);
    viewer.text_where("connectionGraphUpdate", |text| {
        has(text, "publishedTopics", json!({ "name": "/news", "publisherIds": ["/robot"] }))
            && has(text, "subscribedTopics", json!({ "name": "/goal", "subscriberIds": ["/robot"] }))
    });
    let _second = other.node("second").unwrap().publisher::<Text>("news").create().unwrap();
    viewer.text_where("connectionGraphUpdate", |text| {
        has(text, "publishedTopics", json!({ "name": "/news", "publisherIds": ["/robot", "/second"] }))
    });
    drop((publisher, _second));
    viewer.text_where("connectionGraphUpdate", |text| has(text, "removedTopics", json!("/news")));
}

#[test]
fn files_of_packages_are_read() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("arm")).unwrap();
    std::fs::write(directory.path().join("arm/a.stl"), "solid").unwrap();
    let world = World::with(|builder| builder.assets(directory.path()));
    let mut viewer = world.viewer();
    assert!(viewer.info["capabilities"].to_string().contains("\"assets\""));
    viewer.send(json!({ "op": "fetchAsset", "requestId": 3, "uri": "package://arm/a.stl" }));
    assert_eq!(viewer.binary(4), [&[4, 3, 0, 0, 0, 0, 0, 0, 0, 0][..], b"solid"].concat());
    viewer.send(json!({ "op": "fetchAsset", "requestId": 4, "uri": "package://arm/../x" }));
    let frame = viewer.binary(4);
    assert_eq!(frame[..6], [4, 4, 0, 0, 0, 1]);
    let length = usize::try_from(u32::from_le_bytes(frame[6..10].try_into().unwrap())).unwrap();
    assert_eq!(frame.len(), 10 + length);
}
