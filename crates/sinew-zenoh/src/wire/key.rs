//! Keys of topics and services.

use super::name;
use sinew::msg::TypeHash;

/// Returns the key of a topic or a service, which all endpoints of one type in one domain share.
/// `name` is the full name, `type_name` ROS 2's; for a service, the service's type and its hash.
/// Returns `None` if the name or the type is invalid.
///
/// ```
/// use sinew::msg::TypeHash;
/// let key = sinew_zenoh::wire::key::of(0, "/chatter", "std_msgs/msg/String", TypeHash([0xdf; 32]));
/// assert_eq!(
///     key.unwrap(),
///     format!("0/chatter/std_msgs::msg::dds_::String_/RIHS01_{}", "df".repeat(32))
/// );
/// ```
pub fn of(domain: u32, name: &str, type_name: &str, hash: TypeHash) -> Option<String> {
    let dds = name::to_dds(type_name)?;
    let name = Some(name).filter(|name| name::is_full_name(name))?.strip_prefix('/')?;
    Some(format!("{domain}/{name}/{dds}/{hash}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRING: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    const ADD: &str = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a";

    #[test]
    fn as_the_design_document_has_them() {
        let key = |domain, name, kind, hash: &str| of(domain, name, kind, hash.parse().unwrap());
        let string = format!("std_msgs::msg::dds_::String_/{STRING}");
        assert_eq!(key(0, "/chatter", "std_msgs/msg/String", STRING).unwrap(), format!("0/chatter/{string}"));
        assert_eq!(
            key(0, "/robot1/chatter", "std_msgs/msg/String", STRING).unwrap(),
            format!("0/robot1/chatter/{string}")
        );
        assert_eq!(
            key(2, "/add_two_ints", "example_interfaces/srv/AddTwoInts", ADD).unwrap(),
            format!("2/add_two_ints/example_interfaces::srv::dds_::AddTwoInts_/{ADD}")
        );
        assert_eq!(key(0, "chatter", "std_msgs/msg/String", STRING), None);
        assert_eq!(key(0, "/a*b", "std_msgs/msg/String", STRING), None);
        assert_eq!(key(0, "/chatter", "String", STRING), None);
    }
}
