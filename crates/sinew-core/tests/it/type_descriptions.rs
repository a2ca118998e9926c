//! `~/get_type_description`.

use crate::support::PATIENCE;
use crate::support::pair::{PATHS, Pair};
use sinew::introspection::TypeDescription;
use sinew::msg::{GenericType, TypeHash};
use sinew::parameters::ParameterValue;
use sinew::prelude::*;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsResponse};
use sinew_interfaces::sensor_msgs::msg::{Image, LaserScan};
use sinew_interfaces::type_description_interfaces::msg::{self, FieldType};
use sinew_interfaces::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescriptionRequest, GetTypeDescriptionResponse,
};
use sinew_msg::definition::{Definition, Definitions};

struct Asking {
    pair: Pair,
    client: Client<GetTypeDescription>,
}

impl Asking {
    fn new(pair: Pair) -> Self {
        let client = pair.asker.client("/owner/get_type_description").create().unwrap();
        Self { pair, client }
    }

    fn ask(&self, hash: &str, include_type_sources: bool) -> GetTypeDescriptionResponse {
        let type_hash = hash.to_owned();
        let request = GetTypeDescriptionRequest {
            type_hash,
            include_type_sources,
            ..GetTypeDescriptionRequest::default()
        };
        self.client.call(request, PATIENCE).unwrap().into_inner()
    }

    /// Whether it describes that type, and so that it has that hash.
    fn describes(&self, name: &str, hash: TypeHash) -> bool {
        let response = self.ask(&hash.to_string(), false);
        assert!(response.type_sources.is_empty());
        if !response.successful {
            assert_eq!(response.failure_reason, "Type not currently in use by this node");
            assert_eq!(response.type_description, msg::TypeDescription::default());
            return false;
        }
        let described = TypeDescription::from(&response.type_description);
        assert_eq!((described.type_description.type_name.as_str(), described.hash()), (name, hash));
        assert_eq!((response.failure_reason.as_str(), response.extra_information.len()), ("", 0));
        true
    }
}

fn hash_of<T: Message>() -> TypeHash {
    T::ENCODING.unwrap().hash
}

const ADD: &str = "example_interfaces/srv/AddTwoInts";

#[test]
fn types_are_described_while_the_node_has_an_end_of_them() {
    for path in PATHS {
        let asking = Asking::new(Pair::new(path));
        let owner = &asking.pair.owner;
        let _service = owner.type_description_service().unwrap();
        let is = |name, hash, expected| assert_eq!(asking.describes(name, hash), expected, "{name}");
        let (image, scan) = (hash_of::<Image>(), hash_of::<LaserScan>());
        let add = AddTwoInts::TYPE.unwrap().hash;
        let all = [("sensor_msgs/msg/Image", image), ("sensor_msgs/msg/LaserScan", scan), (ADD, add)];
        // What another node has is none of this one's.
        let _others = asking.pair.asker.publisher::<Image>("pictures").create().unwrap();
        all.iter().for_each(|(name, hash)| is(name, *hash, false));

        let publisher = owner.publisher::<Image>("pictures").create().unwrap();
        let subscription = owner.subscription::<LaserScan>("scans").create().unwrap();
        let server = owner
            .server::<AddTwoInts>("add")
            .immediate_callback(|_: &_| AddTwoIntsResponse { sum: 0 })
            .unwrap();
        let client = owner.client::<AddTwoInts>("another").create().unwrap();
        all.iter().for_each(|(name, hash)| is(name, *hash, true));
        drop((publisher, subscription, server));
        is("sensor_msgs/msg/Image", image, false);
        is("sensor_msgs/msg/LaserScan", scan, false);
        is(ADD, add, true); // its client is there
        drop(client);
        is(ADD, add, false);
        let own = GetTypeDescription::TYPE.unwrap();
        is(own.name, own.hash, true);
    }
}

#[test]
fn a_registered_type_is_described_while_it_is_registered() {
    let asking = Asking::new(Pair::new(PATHS[0]));
    let _service = asking.pair.owner.type_description_service().unwrap();
    let describe = || Image::ENCODING?.description?.describe();
    let hash = hash_of::<Image>();
    let registered = asking.pair.owner.register_type(hash, describe);
    let again = asking.pair.owner.register_type(hash, describe);
    let none = asking.pair.owner.register_type(TypeHash([3; 32]), || None);
    drop(again);
    assert!(asking.describes("sensor_msgs/msg/Image", hash));
    assert!(!asking.describes("", TypeHash([3; 32])), "it can't be described");
    drop((registered, none));
    assert!(!asking.describes("sensor_msgs/msg/Image", hash));
}

#[test]
fn an_invalid_hash_is_an_error() {
    let asking = Asking::new(Pair::new(PATHS[0]));
    let _service = asking.pair.owner.type_description_service().unwrap();
    let _publisher = asking.pair.owner.publisher::<Image>("pictures").create().unwrap();
    let whole = hash_of::<Image>().to_string();
    for text in ["", "RIHS01_", &whole[..70], &whole.to_uppercase(), &format!("{whole}0"), "RIHS02_00"] {
        let response = asking.ask(text, true);
        let received = (response.successful, response.failure_reason.as_str());
        assert_eq!(received, (false, "Failed to parse type hash"), "{text}");
    }
}

/// A type that is known by its name and hash only has no description.
#[test]
fn a_type_without_a_description_counts_as_unused() {
    let asking = Asking::new(Pair::new(PATHS[0]));
    let _service = asking.pair.owner.type_description_service().unwrap();
    let known = GenericType::new("some_msgs/msg/Number", TypeHash([7; 32])).unwrap();
    let _publisher = asking.pair.owner.generic_publisher("number", known).create().unwrap();
    assert!(!asking.describes("some_msgs/msg/Number", TypeHash([7; 32])));
}

/// The definitions that come with a description, read again, are of the same types.
#[test]
fn sources_are_definitions_of_the_same_types() {
    let asking = Asking::new(Pair::new(PATHS[0]));
    let owner = &asking.pair.owner;
    let _service = owner.type_description_service().unwrap();
    let _publisher = owner.publisher::<Image>("pictures").create().unwrap();
    let _client = owner.client::<AddTwoInts>("add").create().unwrap();
    let resolved = |hash: TypeHash, name: &str| {
        let sources = asking.ask(&hash.to_string(), true).type_sources;
        let mut definitions = Definitions::new();
        for source in sources.iter().filter(|source| source.encoding != "implicit") {
            let name = source.type_name.parse().unwrap();
            definitions
                .add(Definition::parse(&name, &source.type_name, &source.raw_file_contents).unwrap())
                .unwrap();
        }
        let (names, encodings): (Vec<_>, Vec<_>) =
            sources.iter().map(|source| (source.type_name.as_str(), source.encoding.as_str())).unzip();
        let interfaces = definitions.resolve().unwrap();
        assert_eq!(interfaces.hash(&name.parse().unwrap()), Some(hash), "{names:?}");
        (names.join(" "), encodings.join(" "))
    };
    let (names, encodings) = resolved(hash_of::<Image>(), "sensor_msgs/msg/Image");
    assert_eq!(names, "sensor_msgs/msg/Image builtin_interfaces/msg/Time std_msgs/msg/Header");
    assert_eq!(encodings, "msg msg msg");
    let (names, encodings) = resolved(AddTwoInts::TYPE.unwrap().hash, ADD);
    assert_eq!(
        names,
        "example_interfaces/srv/AddTwoInts builtin_interfaces/msg/Time \
         example_interfaces/srv/AddTwoInts_Event example_interfaces/srv/AddTwoInts_Request \
         example_interfaces/srv/AddTwoInts_Response service_msgs/msg/ServiceEventInfo"
    );
    assert_eq!(encodings, "srv msg implicit implicit implicit msg");
}

#[test]
fn a_node_has_the_service_if_it_is_enabled() {
    for path in PATHS {
        let none = Asking::new(Pair::new(path));
        assert!(!none.client.is_server_ready(), "no node has it by itself");

        // As the command line says it, a parameter of the same name is there, too, as in ROS 2.
        let enabled = Asking::new(Pair::made(path, |context| {
            let builder = context.node_builder("owner");
            builder.parameter_override("start_type_description_service", true).create().unwrap()
        }));
        let owner = &enabled.pair.owner;
        let _publisher = owner.publisher::<Image>("pictures").create().unwrap();
        assert!(enabled.describes("sensor_msgs/msg/Image", hash_of::<Image>()));
        let name = "start_type_description_service";
        assert_eq!(owner.parameter_value(name), Some(ParameterValue::Bool(true)));
        let error = owner.set_parameter(name, false).unwrap_err();
        assert!(error.to_string().contains("read-only"), "{error}");
        let error = owner.type_description_service().unwrap_err();
        assert!(error.to_string().contains("/owner/get_type_description"), "{error}");

        let off = Asking::new(Pair::made(path, |context| {
            let builder = context.node_builder("owner");
            builder.parameter_override(name, false).create().unwrap()
        }));
        assert!(!off.client.is_server_ready());
    }
}

#[test]
fn the_command_line_starts_the_service_and_it_goes_with_its_node() {
    let arguments = ["program", "--ros-args", "-p", "start_type_description_service:=true"];
    let context = Context::builder().shared_memory(false).arguments(arguments).build().unwrap();
    let client = context.node("asker").unwrap();
    let client = client.client::<GetTypeDescription>("/owner/get_type_description").create().unwrap();
    let owner = context.node("owner").unwrap();
    assert!(client.is_server_ready());
    drop(owner);
    assert!(!client.is_server_ready(), "nothing keeps the node");
}

#[test]
fn type_ids_are_those_of_the_message() {
    // What descriptions call a type is what the message's constants call it.
    use sinew_msg::description::type_id;
    assert_eq!(type_id::STRING, FieldType::FIELD_TYPE_STRING);
    assert_eq!(type_id::NESTED + type_id::SEQUENCE, FieldType::FIELD_TYPE_NESTED_TYPE_UNBOUNDED_SEQUENCE);
    assert_eq!(type_id::UINT8 + type_id::ARRAY, FieldType::FIELD_TYPE_UINT8_ARRAY);
    assert_eq!(
        type_id::BOUNDED_STRING + type_id::BOUNDED_SEQUENCE,
        FieldType::FIELD_TYPE_BOUNDED_STRING_BOUNDED_SEQUENCE
    );
}
