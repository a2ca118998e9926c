//! Resolving definitions.

use super::{definitions, name};
use sinew_msg::definition::{Definition, Interfaces, Role};
use sinew_msg::description::type_id;

fn interfaces(texts: &[(&str, &str)]) -> Interfaces {
    definitions(texts).resolve().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error of resolving these definitions.
fn refusal(texts: &[(&str, &str)]) -> String {
    definitions(texts).resolve().unwrap_err().to_string()
}

/// The types and names of a type's fields.
fn fields(interfaces: &Interfaces, of: &str) -> Vec<String> {
    let interface = interfaces.find(&name(of)).unwrap_or_else(|| panic!("there is no {of}"));
    let nested = |text: String| text.replace("x/", ""); // the package of the tests
    interface.fields.iter().map(|field| nested(format!("{} {}", field.field_type, field.name))).collect()
}

#[test]
fn a_service_has_a_request_a_response_and_an_event() {
    let interfaces = interfaces(&[("x/srv/S", "# asks\nint32 a\nint32 A=1\n---\n")]);
    assert_eq!(
        fields(&interfaces, "x/srv/S"),
        ["S_Request request_message", "S_Response response_message", "S_Event event_message"]
    );
    assert_eq!(fields(&interfaces, "x/srv/S_Request"), ["int32 a"]);
    assert!(fields(&interfaces, "x/srv/S_Response").is_empty());
    assert_eq!(
        fields(&interfaces, "x/srv/S_Event"),
        ["service_msgs/ServiceEventInfo info", "S_Request[<=1] request", "S_Response[<=1] response",]
    );
    let request = interfaces.find(&name("x/srv/S_Request")).unwrap();
    assert_eq!((request.role, &*request.documentation, request.constants.len()), (Role::Message, "asks", 1));
    assert_eq!(interfaces.find(&name("x/srv/S")).unwrap().role, Role::Service);
}

#[test]
fn an_action_has_messages_and_services() {
    let interfaces = interfaces(&[("x/action/A", "int32 a\n---\nint32 b\n---\nint32 c")]);
    assert_eq!(
        fields(&interfaces, "x/action/A"),
        [
            "A_Goal goal",
            "A_Result result",
            "A_Feedback feedback",
            "A_SendGoal send_goal_service",
            "A_GetResult get_result_service",
            "A_FeedbackMessage feedback_message",
        ]
    );
    let uuid = "unique_identifier_msgs/UUID goal_id";
    assert_eq!(fields(&interfaces, "x/action/A_Result"), ["int32 b"]);
    assert_eq!(fields(&interfaces, "x/action/A_SendGoal_Request"), [uuid, "A_Goal goal"]);
    assert_eq!(
        fields(&interfaces, "x/action/A_SendGoal_Response"),
        ["bool accepted", "builtin_interfaces/Time stamp"]
    );
    assert_eq!(fields(&interfaces, "x/action/A_GetResult_Request"), [uuid]);
    assert_eq!(fields(&interfaces, "x/action/A_GetResult_Response"), ["int8 status", "A_Result result"]);
    assert_eq!(fields(&interfaces, "x/action/A_FeedbackMessage"), [uuid, "A_Feedback feedback"]);
    assert_eq!(fields(&interfaces, "x/action/A_GetResult_Event").len(), 3);
    assert_eq!(interfaces.find(&name("x/action/A_SendGoal")).unwrap().role, Role::Service);
    assert_eq!(interfaces.find(&name("x/action/A")).unwrap().role, Role::Action);
}

#[test]
fn what_derived_types_need_is_known_unless_it_is_defined() {
    let service = ("x/srv/S", "---");
    assert_eq!(interfaces(&[service]).definitions().count(), 4);
    let own = interfaces(&[service, ("builtin_interfaces/msg/Time", "int64 own")]);
    assert_eq!(fields(&own, "builtin_interfaces/msg/Time"), ["int64 own"]);
    assert_eq!(interfaces(&[("x/msg/M", "")]).definitions().count(), 1);
}

#[test]
fn descriptions_have_the_types_of_all_fields_in_order() {
    let interfaces = interfaces(&[
        ("x/msg/Top", "Middle[2] b\nMiddle[] again\nLeaf[<=3] a"),
        ("x/msg/Middle", "y/Leaf leaf\nstring<=5[<=7] s"),
        ("x/msg/Leaf", ""),
        ("y/msg/Leaf", "wstring<=9 w \"a\""),
        ("x/msg/Unused", ""),
    ]);
    let description = interfaces.description(&name("x/msg/Top")).unwrap();
    let names = |of: &[sinew_msg::description::IndividualTypeDescription]| {
        of.iter().map(|one| one.type_name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&description.referenced_type_descriptions),
        ["x/msg/Leaf", "x/msg/Middle", "y/msg/Leaf"]
    );
    let types: Vec<_> = description
        .type_description
        .fields
        .iter()
        .map(|field| (field.field_type.type_id, field.field_type.capacity))
        .collect();
    assert_eq!(types, [(type_id::NESTED + type_id::ARRAY, 2), (145, 0), (97, 3)]);
    let [leaf, middle, other] = description.referenced_type_descriptions.as_slice() else { panic!("three") };
    assert_eq!(leaf.fields[0].name, "structure_needs_at_least_one_member");
    assert_eq!(leaf.fields[0].field_type.type_id, type_id::UINT8);
    assert_eq!(middle.fields[0].field_type.nested_type_name, "y/msg/Leaf");
    let strings = &middle.fields[1].field_type;
    assert_eq!((strings.type_id, strings.capacity, strings.string_capacity), (117, 7, 5));
    assert_eq!((other.fields[0].field_type.type_id, &*other.fields[0].default_value), (22, "a"));
    assert!(interfaces.description(&name("x/msg/Nothing")).is_none());
}

#[test]
fn default_values_are_described_as_python_prints_them() {
    let text = "\
bool a true
int8 b -0x5
float64 c 1
float64 d 1e-5
float64 e 1.5e16
float64 f 123456.5
string g \"it's\"
string[] h ['', \"it's\", 'a\"b', \"a\\n\\\\\"]
int8[1] i [1]
int8[] j [1, 2]
bool[] k []
int8 l";
    let description = interfaces(&[("x/msg/M", text)]).description(&name("x/msg/M")).unwrap();
    let values: Vec<_> =
        description.type_description.fields.iter().map(|field| &*field.default_value).collect();
    let strings = r#"('', "it's", 'a"b', 'a\n\\')"#;
    assert_eq!(
        values,
        ["True", "-5", "1.0", "1e-05", "1.5e+16", "123456.5", "it's", strings, "(1,)", "(1, 2)", "()", ""]
    );
}

#[test]
fn hashes_don_t_depend_on_comments_constants_and_defaults() {
    let hash = |text| interfaces(&[("x/msg/M", text)]).hash(&name("x/msg/M")).unwrap();
    assert_eq!(hash("int32 a"), hash("# doc\nint8 A=5\nint32 a 5 # five"));
    assert_ne!(hash("int32 a"), hash("int32 b"));
    assert_ne!(hash("int32 a"), hash("int32[1] a"));
    assert_eq!(hash("char a"), hash("uint8 a"));
    assert_ne!(hash("byte a"), hash("uint8 a"));
}

#[test]
fn unknown_types() {
    assert_eq!(
        refusal(&[
            ("x/msg/M", "int8 a\n  # b\nHeader header"),
            ("std_msgs/msg/Header", ""),
            ("y/msg/Header", "")
        ]),
        "x/msg/M:3:1: `header` of x/msg/M has the unknown type x/msg/Header; perhaps `std_msgs/Header` or `y/Header` is meant"
    );
    assert_eq!(
        refusal(&[("x/srv/S", "---\nnav_msgs/Path path")]),
        "x/srv/S:2:1: `path` of x/srv/S_Response has the unknown type nav_msgs/msg/Path; add the definitions of nav_msgs"
    );
    assert_eq!(
        refusal(&[("x/msg/M", "@optional N[] n")]),
        "x/msg/M:1:11: `n` of x/msg/M has the unknown type x/msg/N; x has no message of this name"
    );
    // A service cannot be the type of a field.
    assert!(refusal(&[("x/msg/M", "S s"), ("x/srv/S", "---")]).contains("unknown type x/msg/S"));
}

#[test]
fn recursive_types() {
    assert_eq!(
        refusal(&[("x/msg/M", "int8 a\nM[] m")]),
        "x/msg/M:2:1: x/msg/M contains itself: `m` of x/msg/M is a x/msg/M; ROS 2 has no recursive types"
    );
    let error = refusal(&[
        ("x/srv/A", "B b\n---"),
        ("x/msg/B", "C c"),
        ("x/msg/C", "D d"),
        ("x/msg/D", "int8 a\nB b"),
    ]);
    let circle = "`c` of x/msg/B is a x/msg/C, `d` of x/msg/C is a x/msg/D, `b` of x/msg/D is a x/msg/B";
    assert_eq!(
        error,
        format!("x/msg/D:2:1: x/msg/B contains itself: {circle}; ROS 2 has no recursive types")
    );
}

#[test]
fn types_in_types_may_go_deep() {
    const DEPTH: usize = 10_000;
    let names: Vec<String> = (0..=DEPTH).map(|n| format!("x/msg/M{n}")).collect();
    let texts: Vec<String> = (1..=DEPTH).map(|n| format!("M{n} a\nM{n} b")).chain([String::new()]).collect();
    let texts: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let interfaces = interfaces(&texts);
    let description = interfaces.description(&name("x/msg/M0")).unwrap();
    assert_eq!(description.referenced_type_descriptions.len(), DEPTH);
}

#[test]
fn a_type_is_defined_once() {
    let mut definitions = definitions(&[("x/msg/M", "")]);
    let second = Definition::parse(&name("x/msg/M"), "other/M.msg", "").unwrap();
    let error = definitions.add(second).unwrap_err().to_string();
    assert_eq!(error, "x/msg/M is defined twice, in x/msg/M and in other/M.msg; leave out one");
}
