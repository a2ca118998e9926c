//! Names and kinds of generated items.

use sinew_interfaces::{
    action_msgs, example_interfaces, geometry_msgs, nav_msgs, sensor_msgs, std_msgs, test_msgs,
};
use sinew_msg::{Action, Message, Plain, Service};

#[test]
fn constants_have_their_values() {
    use sensor_msgs::msg::PointField;
    assert_eq!((PointField::INT8, PointField::FLOAT64), (1, 8));
    assert_eq!(test_msgs::msg::Strings::STRING_CONST, "Hello world!");
    assert_eq!(action_msgs::msg::GoalStatus::STATUS_ABORTED, 6);
}

#[test]
fn services_and_actions_name_their_parts() {
    type AddTwoInts = example_interfaces::srv::AddTwoInts;
    let request = example_interfaces::srv::AddTwoIntsRequest { a: 1, b: 2 };
    let _: <AddTwoInts as Service>::Request = request;
    let service = AddTwoInts::TYPE.unwrap();
    assert_eq!(service.name, "example_interfaces/srv/AddTwoInts");
    assert!(service.hash.to_string().starts_with("RIHS01_e118de6bf5eeb66a"));
    let response = <<AddTwoInts as Service>::Response as Message>::ENCODING.unwrap();
    assert_eq!(response.name, "example_interfaces/srv/AddTwoInts_Response");

    type Fibonacci = example_interfaces::action::Fibonacci;
    let feedback = <<Fibonacci as Action>::FeedbackMessage as Message>::ENCODING.unwrap();
    assert_eq!(feedback.name, "example_interfaces/action/Fibonacci_FeedbackMessage");
    let send = <<Fibonacci as Action>::SendGoal as Service>::TYPE.unwrap();
    assert_eq!(send.name, "example_interfaces/action/Fibonacci_SendGoal");
    assert_eq!(Fibonacci::NAME, "example_interfaces/action/Fibonacci");
}

#[test]
fn what_lies_in_memory_as_in_its_encoded_form_is_plain() {
    fn plain<T: Message + Plain>() {
        assert!(T::ENCODING.unwrap().plain.is_some());
    }
    plain::<geometry_msgs::msg::PoseWithCovariance>();
    plain::<std_msgs::msg::ColorRGBA>();
    // 20 bytes, followed by a pose that is aligned to 8.
    assert!(nav_msgs::msg::MapMetaData::ENCODING.unwrap().plain.is_none());
    assert!(std_msgs::msg::Header::ENCODING.unwrap().plain.is_none());
    assert!(std_msgs::msg::Bool::ENCODING.unwrap().plain.is_none());
}
