//! Types that only the network knows.

use crate::network::{Host, Network, RosNode, wait_for};
use parking_lot::Mutex;
use sinew::QoS;
use sinew::msg::{GenericType, TypeHash};
use sinew_interfaces::type_description_interfaces::msg;
use sinew_interfaces::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescriptionRequest, GetTypeDescriptionResponse,
};
use sinew_msg::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
};
use sinew_msg::{Message, Service};
use sinew_zenoh::wire::token::TokenKind;
use std::sync::Arc;
use zenoh::Wait;
use zenoh::query::Query;

const NAME: &str = "their_msgs/msg/Theirs";

/// A type that no program of this host has.
fn theirs(field: &str) -> TypeDescription {
    let number = FieldDescription {
        name: field.to_owned(),
        field_type: FieldTypeDescription { type_id: type_id::INT32, ..Default::default() },
        ..Default::default()
    };
    let type_description = IndividualTypeDescription { type_name: NAME.to_owned(), fields: vec![number] };
    TypeDescription { type_description, ..Default::default() }
}

/// The same in the form of ROS 2's answer.
fn message(description: &TypeDescription) -> msg::TypeDescription {
    let fields = description.type_description.fields.iter().map(|field| msg::Field {
        name: field.name.clone(),
        r#type: msg::FieldType { type_id: field.field_type.type_id, ..Default::default() },
        ..Default::default()
    });
    let type_description = msg::IndividualTypeDescription {
        type_name: NAME.try_into().expect("it is short"),
        fields: fields.collect(),
    };
    msg::TypeDescription { type_description, ..Default::default() }
}

fn encoded<T: Message>(message: &T) -> Vec<u8> {
    let encoding = T::ENCODING.expect("a type of ROS 2");
    let mut encoded = vec![0; (encoding.size)(message)];
    (encoding.encode)(message, &mut encoded);
    encoded
}

fn kept(host: &Host, hash: TypeHash) -> Option<String> {
    let text = host.domain().description(&hash.0).expect("it can be read")?;
    Some(String::from_utf8(text).expect("a text"))
}

/// A ROS 2 node that describes the type with the given answer, as long as it exists.
fn describing(
    ros: &RosNode,
    answer: impl Fn(&GetTypeDescriptionRequest) -> GetTypeDescriptionResponse + Send + Sync + 'static,
) -> (zenoh::query::Queryable<()>, Arc<Mutex<Vec<GetTypeDescriptionRequest>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let service = GetTypeDescription::TYPE.expect("a service of ROS 2");
    let key = sinew_zenoh::wire::key::of(7, "/ros/talker/get_type_description", service.name, service.hash);
    let key = key.expect("a name");
    let (heard, to) = (asked.clone(), key.clone());
    let decode = GetTypeDescriptionRequest::ENCODING.expect("a type of ROS 2").decode;
    let answering = move |query: Query| {
        assert!(query.attachment().is_some(), "as ROS 2 wants it");
        let request = decode(&query.payload().expect("a request").to_bytes()).expect("a request");
        let response = answer(&request);
        heard.lock().push(request);
        query.reply(to.clone(), encoded(&response)).wait().expect("it waits");
    };
    let queryable = ros.session.declare_queryable(key).complete(true).callback(answering).wait();
    (queryable.expect("the session is open"), asked)
}

#[test]
fn a_node_of_ros_2_describes_its_types() {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let (right, wrong) = (theirs("number"), theirs("something_else"));
    let hash = right.hash();
    let ros = RosNode::new(&network, "talker");
    // An answer with another hash isn't stored: the node is asked again, and then gives the right
    // answer.
    let (place, kept_before, expected) = (host.domain(), Arc::new(Mutex::new(Vec::new())), right.to_json());
    let (seen, answers) = (kept_before.clone(), Mutex::new([wrong, right].into_iter().cycle()));
    let (_queryable, asked) = describing(&ros, move |_| {
        seen.lock().push(place.description(&hash.0).expect("it can be read"));
        let answer = answers.lock().next().expect("there is no end");
        GetTypeDescriptionResponse {
            successful: true,
            type_description: message(&answer),
            ..Default::default()
        }
    });
    let text = hash.to_string();
    let first = ros.publisher("/theirs", (NAME, &text), QoS::new());
    assert_eq!(wait_for("what is right", || kept(&host, hash)), expected);
    let kept_before = kept_before.lock().clone();
    assert!(kept_before.len() > 1 && kept_before.iter().all(Option::is_none), "{kept_before:?}");
    let request = asked.lock()[0].clone();
    assert_eq!((request.type_name.as_str(), request.type_hash.as_str()), (NAME, text.as_str()));
    // A known type is not asked for again.
    let count = asked.lock().len();
    let _second = ros.subscription("/theirs", (NAME, &text), QoS::new());
    drop(first);
    wait_for("nothing is lost of it", || kept(&host, hash));
    assert_eq!(asked.lock().len(), count);
}

#[test]
fn a_host_of_sinew_describes_its_types() -> Result<(), Box<dyn std::error::Error>> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let description = theirs("number");
    let hash = description.hash();
    one.domain().keep_description(&hash.0, &description.to_json())?;
    let node = one.context().node("talker")?;
    let _publisher = node.generic_publisher("/theirs", GenericType::new(NAME, hash)?).create()?;
    assert_eq!(wait_for("it is known there", || kept(&other, hash)), description.to_json());
    Ok(())
}

#[test]
fn a_type_that_no_node_describes_is_asked_for_a_few_times() {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "talker");
    let (_queryable, asked) = describing(&ros, |_| GetTypeDescriptionResponse::default());
    let hash = theirs("number").hash();
    let text = hash.to_string();
    let _token = ros.tell(TokenKind::Publisher, "/theirs", (NAME, &text), QoS::new());
    wait_for("it is asked again and again", || (asked.lock().len() == 4).then_some(()));
    assert_eq!(kept(&host, hash), None);
    assert_eq!(gateway.statistics().remote, 2, "it is there all the same");
}
