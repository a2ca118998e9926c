//! `<service>/_service_event`.

use crate::support::pair::{PATHS, Pair};
use crate::support::{PATIENCE, real_context, wait_for};
use sinew::Responder;
use sinew::erased::{Message, ServiceTypes};
use sinew::error::CreateError;
use sinew::introspection::ServiceIntrospection::{Contents, Metadata, Off};
use sinew::msg::{GenericType, TypeHash};
use sinew::prelude::*;
use sinew::service::RequestInfo;
use sinew::time::Time;
use sinew_interfaces::example_interfaces::srv::{
    AddTwoInts, AddTwoIntsEvent, AddTwoIntsRequest, AddTwoIntsResponse,
};
use sinew_interfaces::rcl_interfaces::srv::{
    GetParameters, GetParametersEvent, GetParametersRequest, GetParametersResponse,
};
use sinew_interfaces::service_msgs::msg::ServiceEventInfo;
use sinew_msg::description::TypeDescription;
use std::sync::mpsc;

const KINDS: [u8; 4] = [
    ServiceEventInfo::REQUEST_SENT,
    ServiceEventInfo::REQUEST_RECEIVED,
    ServiceEventInfo::RESPONSE_SENT,
    ServiceEventInfo::RESPONSE_RECEIVED,
];

/// Who asks for what, by the server's own information.
type Asked = mpsc::Receiver<(sinew::msg::Gid, u64)>;

fn adder(node: &Node) -> (Server<AddTwoInts>, Asked) {
    let (sender, asked) = mpsc::channel();
    let add = move |request: &AddTwoIntsRequest, info: &RequestInfo| {
        let _ = sender.send((info.client(), info.sequence()));
        AddTwoIntsResponse { sum: request.a + request.b }
    };
    (node.server::<AddTwoInts>("/add").immediate_callback(add).unwrap(), asked)
}

fn events_of(node: &Node) -> Subscription<AddTwoIntsEvent> {
    let qos = QoS::default().keep_last(100);
    node.subscription("/add/_service_event").qos(qos).create().unwrap()
}

fn take(events: &Subscription<AddTwoIntsEvent>, count: usize) -> Vec<AddTwoIntsEvent> {
    let mut all = Vec::new();
    while all.len() < count {
        all.push(wait_for("an event", || events.take_unique()).0.into_inner());
    }
    all.sort_by_key(|event| (event.info.sequence_number, event.info.event_type));
    all
}

#[test]
fn each_end_publishes_events_of_both_with_contents() {
    for path in PATHS {
        let pair = Pair::new(path);
        let (server, asked) = adder(&pair.owner);
        let other = pair.asker.client::<AddTwoInts>("/add").create().unwrap();
        let client = pair.asker.client::<AddTwoInts>("/add").create().unwrap();
        assert!(client.wait_for_server(PATIENCE));
        let events = events_of(&pair.asker);
        server.configure_introspection(Contents, QoS::default()).unwrap();
        client.configure_introspection(Contents, QoS::default()).unwrap();
        assert!(events.wait_for_publishers(2, PATIENCE));
        let stamp = Time::from_nanoseconds(1_000_000_007);
        pair.contexts.iter().for_each(|context| context.set_ros_time(Some(stamp)));
        for number in 1..4 {
            client.call(AddTwoIntsRequest { a: number, b: 1 }, PATIENCE).unwrap();
        }
        let all = take(&events, 12);
        for (number, events) in (1..).zip(all.chunks(4)) {
            let request = vec![AddTwoIntsRequest { a: number, b: 1 }];
            let response = vec![AddTwoIntsResponse { sum: number + 1 }];
            let (client, sequence) = asked.recv().unwrap();
            for (kind, event) in KINDS.iter().zip(events) {
                let info = ServiceEventInfo {
                    event_type: *kind,
                    stamp: stamp.to_msg(),
                    client_gid: client.0,
                    sequence_number: sequence.cast_signed(),
                };
                assert_eq!(event.info, info);
                let (of_request, of_response) = (event.request.to_vec(), event.response.to_vec());
                match *kind < 2 {
                    true => assert_eq!((of_request, of_response), (request.clone(), vec![])),
                    false => assert_eq!((of_request, of_response), (vec![], response.clone())),
                }
            }
        }
        assert_eq!(all[0].info.client_gid, client.gid().0);
        // Only the server publishes events of another client, and as another one's.
        other.call(AddTwoIntsRequest { a: 7, b: 1 }, PATIENCE).unwrap();
        let of_other = take(&events, 2);
        let received: Vec<_> =
            of_other.iter().map(|one| (one.info.event_type, one.info.client_gid)).collect();
        assert_eq!(received, [(1, other.gid().0), (2, other.gid().0)]);
        assert_eq!(asked.recv().unwrap().0, other.gid());
    }
}

#[test]
fn metadata_has_no_contents_and_off_nothing() {
    for path in PATHS {
        let pair = Pair::new(path);
        let (server, _asked) = adder(&pair.owner);
        let client = pair.asker.client::<AddTwoInts>("/add").create().unwrap();
        assert!(client.wait_for_server(PATIENCE));
        let events = events_of(&pair.asker);
        let call = || client.call(AddTwoIntsRequest { a: 1, b: 1 }, PATIENCE).unwrap();
        call();
        server.configure_introspection(Metadata, QoS::default()).unwrap();
        assert!(events.wait_for_publishers(1, PATIENCE));
        call();
        for (event, kind) in take(&events, 2).iter().zip([1, 2]) {
            assert_eq!((event.info.event_type, event.info.sequence_number), (kind, 2), "none of the first");
            assert_eq!((event.request.len(), event.response.len()), (0, 0));
        }
        server.configure_introspection(Off, QoS::default()).unwrap();
        wait_for("no publisher", || (events.publisher_count() == 0).then_some(()));
        call();
        client.configure_introspection(Metadata, QoS::default()).unwrap();
        assert!(events.wait_for_publishers(1, PATIENCE));
        drop((server, client));
        wait_for("no publisher", || (events.publisher_count() == 0).then_some(()));
        assert!(events.take().is_none());
    }
}

/// Every form of server and of call.
#[test]
fn later_answers_futures_and_callbacks_publish_events() {
    let context = real_context();
    let node = context.node("n").unwrap();
    let events = events_of(&node);
    let client = node.client::<AddTwoInts>("/add").create().unwrap();
    client.configure_introspection(Contents, QoS::default()).unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let mut number = 0;
    let mut check = |server: Server<AddTwoInts>| {
        server.configure_introspection(Contents, QoS::default()).unwrap();
        let response = executor.spin_until(client.call_async(AddTwoIntsRequest { a: 40, b: 2 })).unwrap();
        assert_eq!(response.unwrap().sum, 42);
        number += 1;
        let all = take(&events, 4);
        assert!(all.iter().map(|event| event.info.event_type).eq(KINDS));
        assert!(all.iter().all(|event| event.info.sequence_number == number));
        assert!(all[2..].iter().all(|event| event.response[0].sum == 42));
        server.close();
    };
    let sum = |request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b };
    check(node.server::<AddTwoInts>("/add").callback(sum).unwrap());
    let later = move |request: AddTwoIntsRequest, responder: Responder<AddTwoInts>| {
        std::thread::spawn(move || responder.respond(sum(&request)));
    };
    check(node.server::<AddTwoInts>("/add").callback(later).unwrap());
    let future = move |request: AddTwoIntsRequest| async move { sum(&request) };
    check(node.server::<AddTwoInts>("/add").async_callback(future).unwrap());
}

#[test]
fn failures_are_no_responses() {
    let node = real_context().node("n").unwrap();
    let events = events_of(&node);
    let refuse = |_: &AddTwoIntsRequest| Err::<AddTwoIntsResponse, _>("no");
    let server = node.server::<AddTwoInts>("/add").immediate_callback(refuse).unwrap();
    let client = node.client::<AddTwoInts>("/add").create().unwrap();
    server.configure_introspection(Contents, QoS::default()).unwrap();
    client.configure_introspection(Contents, QoS::default()).unwrap();
    assert!(client.call(AddTwoIntsRequest::default(), PATIENCE).is_err());
    let received: Vec<_> =
        std::iter::from_fn(|| events.take()).map(|(event, _)| event.info.event_type).collect();
    assert_eq!(received, [0, 1]);
}

/// The fields of requests and responses lie elsewhere in an event than in their own encoded forms.
#[test]
fn contents_are_aligned_as_the_event_has_them() {
    let node = real_context().node("n").unwrap();
    let events = node.subscription::<GetParametersEvent>("/get/_service_event").create().unwrap();
    let get = |request: &GetParametersRequest| GetParametersResponse {
        values: request.names.iter().map(|_| Default::default()).collect(),
    };
    let server = node.server::<GetParameters>("/get").immediate_callback(get).unwrap();
    server.configure_introspection(Contents, QoS::default()).unwrap();
    let client = node.client::<GetParameters>("/get").create().unwrap();
    for count in 0..5 {
        let names: Vec<_> = (0..count).map(|number| "x".repeat(number)).collect();
        client.call(GetParametersRequest { names: names.clone() }, PATIENCE).unwrap();
        assert_eq!(events.take().unwrap().0.request[0].names, names);
        assert_eq!(events.take().unwrap().0.response[0].values.len(), count);
    }
}

#[test]
fn impossible_introspection_is_an_error() {
    #[derive(Message)]
    struct Deep {
        all: Vec<Vec<u8>>,
    }
    struct Deeply;
    impl Service for Deeply {
        type Request = Deep;
        type Response = Deep;
    }
    let node = real_context().node("n").unwrap();
    let client = node.client::<Deeply>("deep").create().unwrap();
    let error = client.configure_introspection(Metadata, QoS::default()).unwrap_err();
    assert!(matches!(&error, CreateError::NoEventType { service } if service == "/deep"), "{error}");
    client.configure_introspection(Off, QoS::default()).unwrap();
    let client = node.client::<AddTwoInts>("add").create().unwrap();
    let error = client.configure_introspection(Metadata, QoS::default().keep_last(0)).unwrap_err();
    assert!(matches!(error, CreateError::Qos { .. }), "{error}");
}

/// The service's description, as a program gets it from elsewhere.
fn description() -> TypeDescription {
    fn of<T: sinew_msg::Message>() -> TypeDescription {
        T::ENCODING.unwrap().description.unwrap().describe().unwrap()
    }
    let name = AddTwoInts::TYPE.unwrap().name;
    TypeDescription::of_service(name, &of::<AddTwoIntsRequest>(), &of::<AddTwoIntsResponse>())
}

/// A service of which the program knows only the description: its messages are bytes.
#[test]
fn a_service_that_is_known_by_its_description_has_events() {
    let types = ServiceTypes::known(GenericType::described(description()).unwrap());
    assert_eq!(types.hash(), ServiceTypes::of::<AddTwoInts>().hash());
    let node = real_context().node("n").unwrap();
    let server = node.erased_server("/add", types).create_erased().unwrap();
    let client = node.client::<AddTwoInts>("/add").create().unwrap();
    let events = events_of(&node);
    server.configure_introspection(Contents, QoS::default()).unwrap();
    client.erased().configure_introspection(Contents, QoS::default()).unwrap();
    let sent = client.send(AddTwoIntsRequest { a: 40, b: 2 }).unwrap();
    let (_, info) = server.take_request().unwrap();
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(42_i64.to_le_bytes());
    let response = Message::encoded_from(types.response(), &bytes).unwrap();
    server.respond(&info.key(), response).unwrap();
    assert_eq!(client.take_response().unwrap().1.id(), sent);
    for (kind, event) in KINDS.iter().zip(take(&events, 4)) {
        assert_eq!(event.info.event_type, *kind);
        let contents = (event.request.to_vec(), event.response.to_vec());
        match *kind < 2 {
            true => assert_eq!(contents, (vec![AddTwoIntsRequest { a: 40, b: 2 }], vec![])),
            false => assert_eq!(contents, (vec![], vec![AddTwoIntsResponse { sum: 42 }])),
        }
    }

    let unknown = GenericType::new(types.name().unwrap(), TypeHash([9; 32])).unwrap();
    let client = node.erased_client("/other", ServiceTypes::known(unknown)).create_erased().unwrap();
    let error = client.configure_introspection(Metadata, QoS::default()).unwrap_err();
    assert!(matches!(error, CreateError::NoEventType { .. }), "{error}");
}

/// Bytes of a client that are no request cost their event and a log line.
#[test]
fn contents_that_cannot_be_read_cost_the_event_only() {
    let node = real_context().node("n").unwrap();
    let known = ServiceTypes::of::<AddTwoInts>();
    let generic = GenericType::new(known.name().unwrap(), known.hash().unwrap()).unwrap();
    let types = ServiceTypes::known(generic);
    let server = node.erased_server("/add", types).create_erased().unwrap();
    let client = node.erased_client("/add", types).create_erased().unwrap();
    GenericType::described(description()).unwrap();
    let events = events_of(&node);
    client.configure_introspection(Contents, QoS::default()).unwrap();
    let short = Message::encoded_from(types.request(), &[0, 1, 0, 0, 1]).unwrap();
    client.send(short).unwrap();
    let (taken, _) = server.take_request().expect("the request itself arrives");
    assert_eq!(taken.encoded(), Some(&[0, 1, 0, 0, 1][..]));
    assert!(events.take().is_none());
}
