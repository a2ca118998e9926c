//! Names that may have been meant.

use std::collections::BTreeSet;

/// How many are suggested.
const MOST: usize = 3;

/// How many letters of a name are mistyped, at most.
const NEAR: usize = 2;

/// The names most like `wanted`, best first; none if none is like it.
pub(crate) fn to<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    // By its last part alone: `std_msgs/msg/` in front makes no two names alike.
    let near = ((last(wanted).chars().count() + 1) / 3).min(NEAR);
    let distance = |name: &'a str| {
        // The right name in another namespace is nearer than any misspelling.
        if last(name) == last(wanted) {
            return Some((0, name));
        }
        let letters = strsim::damerau_levenshtein(wanted, name);
        let part = name.contains(wanted) || (name.len() > 1 && wanted.contains(name));
        (letters <= near || part).then_some((letters, name))
    };
    let names: BTreeSet<&str> = names.collect();
    let mut similar: Vec<_> = names.into_iter().filter_map(distance).collect();
    similar.sort_unstable();
    similar.truncate(MOST);
    similar.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// The end of a sentence that names what may have been meant.
pub(crate) fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        similar => format!("; did you mean {}?", similar.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::to;

    #[test]
    fn misspelled_moved_and_cut_names_are_found() {
        let names = ["/chatter", "/robot/camera/image", "/clock", "/odom"];
        let like = |name| to(name, names.into_iter());
        assert_eq!(like("/chater"), ["/chatter"]);
        assert_eq!(like("/chatetr"), ["/chatter"]);
        assert_eq!(like("/image"), ["/robot/camera/image"]);
        assert_eq!(like("/robot/camera"), ["/robot/camera/image"]);
        assert_eq!(like("/Odom"), ["/odom"]);
        assert_eq!(like("/something/else"), [""; 0]);
    }

    #[test]
    fn types_are_like_each_other_by_more_than_their_packages() {
        let names =
            ["std_msgs/msg/Int8", "std_msgs/msg/Bool", "sensor_msgs/msg/Joy", "geometry_msgs/msg/Point"];
        let like = |name| to(name, names.into_iter());
        for unrelated in
            ["robot_msgs/msg/Joint", "std_msgs/msg/Foo", "robot_msgs/msg/Arm", "my_msgs/msg/Tool"]
        {
            assert_eq!(like(unrelated), [""; 0], "{unrelated}");
        }
        assert_eq!(like("std_msg/msg/Boool"), ["std_msgs/msg/Bool"]);
        assert_eq!(like("geometry_msgs/msg/Piont"), ["geometry_msgs/msg/Point"]);
        assert_eq!(like("robot_msgs/msg/Point"), ["geometry_msgs/msg/Point"]);
        assert_eq!(to("foo_msgs", ["std_msgs", "nav_msgs"].into_iter()), [""; 0]);
        assert_eq!(to("std_msg", ["std_msgs", "nav_msgs"].into_iter()), ["std_msgs"]);
    }

    #[test]
    fn no_more_than_three() {
        let names: Vec<String> = (0..9).map(|i| format!("/t{i}")).collect();
        assert_eq!(to("/t", names.iter().map(String::as_str)), ["/t0", "/t1", "/t2"]);
    }
}
