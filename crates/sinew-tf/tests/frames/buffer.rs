//! Lookups in a buffer, and refused transforms.

use crate::counting::allocations;
use crate::{along_x, at, fix, insert};
use sinew::Duration;
use sinew_interfaces::geometry_msgs::msg::{
    Pose, PoseStamped, Quaternion, Transform as TransformMsg, TransformStamped, Vector3,
};
use sinew_interfaces::std_msgs::msg::Header;
use sinew_tf::{At, Buffer, InsertError, Inserted, LookupError, Transform};

fn x(buffer: &Buffer, target: &str, source: &str, when: impl Into<At>) -> f64 {
    buffer.lookup(target, source, when).unwrap().transform.translation[0]
}

#[test]
fn both_ways_meet_at_the_frame_that_both_lie_in() {
    let buffer = Buffer::new();
    insert(&buffer, "map", "odom", 10, 1.0);
    insert(&buffer, "odom", "base", 10, 2.0);
    fix(&buffer, "base", "camera", 4.0);
    fix(&buffer, "base", "lidar", 8.0);
    let cases = [
        ("map", "camera", 7.0),
        ("camera", "map", -7.0),
        ("lidar", "camera", -4.0),
        ("odom", "base", 2.0),
        ("base", "base", 0.0),
    ];
    for (target, source, expected) in cases {
        assert_eq!(x(&buffer, target, source, At::Latest), expected, "{target} {source}");
        assert_eq!(x(&buffer, target, source, at(10)), expected, "{target} {source}");
    }
    assert_eq!(x(&buffer, "/map", "/camera", At::Latest), 7.0, "with ROS 1's slashes");
}

#[test]
fn the_latest_is_that_which_all_links_have() {
    let buffer = Buffer::new();
    for stamp in [10, 20, 30] {
        insert(&buffer, "map", "odom", stamp, stamp as f64);
    }
    insert(&buffer, "odom", "base", 5, 0.0);
    insert(&buffer, "odom", "base", 25, 0.0);
    fix(&buffer, "base", "lidar", 0.5);
    let found = buffer.lookup("map", "lidar", At::Latest).unwrap();
    assert_eq!((found.stamp, found.transform.translation[0]), (at(25), 25.5));
    assert_eq!(buffer.lookup("base", "lidar", At::Latest).unwrap().stamp, at(0), "static at any time");
    assert_eq!(x(&buffer, "base", "lidar", at(1_000_000)), 0.5);
    assert_eq!(x(&buffer, "map", "lidar", at(0)), 25.5, "0 is the latest");
}

#[test]
fn over_time_one_frame_stands_still() {
    let buffer = Buffer::new();
    insert(&buffer, "odom", "base", 10, 1.0);
    insert(&buffer, "odom", "base", 20, 4.0);
    let moved = buffer.lookup_over_time(("base", at(20)), ("base", at(10)), "odom").unwrap();
    assert_eq!((moved.stamp, moved.transform.translation[0]), (at(20), -3.0));
    let error = buffer.lookup_over_time(("base", at(21)), ("base", at(10)), "odom").unwrap_err();
    assert!(matches!(error, LookupError::Extrapolation { .. }), "{error}");
}

#[test]
fn a_frame_may_get_another_parent() {
    let buffer = Buffer::new();
    fix(&buffer, "map", "table", 1.0);
    fix(&buffer, "map", "hand", 2.0);
    insert(&buffer, "table", "cup", 10, 0.1);
    insert(&buffer, "hand", "cup", 20, 0.2);
    assert_eq!(x(&buffer, "map", "cup", at(10)), 1.1);
    assert_eq!(x(&buffer, "map", "cup", at(15)), 1.1, "until the other one is known");
    assert_eq!(x(&buffer, "map", "cup", at(20)), 2.2);
    assert_eq!(x(&buffer, "map", "cup", At::Latest), 2.2);
    // Moving frames become static, and moving again.
    fix(&buffer, "map", "cup", 7.0);
    assert_eq!(x(&buffer, "map", "cup", at(15)), 7.0);
    insert(&buffer, "hand", "cup", 30, 0.3);
    assert_eq!(x(&buffer, "map", "cup", at(30)), 2.3);
    assert!(buffer.lookup("map", "cup", at(15)).is_err());
}

#[test]
fn long_names_are_refused_before_they_cost_anything() {
    let buffer = Buffer::new();
    fix(&buffer, "map", &format!("/{}", "x".repeat(255)), 1.0); // the slash is removed
    let long = "x".repeat(10_000_000);
    for (parent, child) in [("map", long.as_str()), (long.as_str(), "map"), (&long[..256], &long[..256])] {
        let error = buffer.insert(&along_x(parent, child, 1, f64::NAN), "").unwrap_err();
        let InsertError::NameTooLong { length, .. } = &error else { panic!("{error}") };
        assert!([256, 10_000_000].contains(length) && error.to_string().len() < 200, "{error}");
    }
    assert_eq!(buffer.frames().len(), 2);
    // A lookup or a wait for such a name fails as well: a message may contain one.
    let error = buffer.lookup("map", &long, At::Latest).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "no frame is called \"{}\"..: that name has 10000000 bytes, but a frame's name may have at most 255",
            "x".repeat(40)
        )
    );
    let waited = buffer.wait_for("map", &long, At::Latest).wait(sinew::Duration::from_secs(60));
    assert_eq!(waited.unwrap_err(), error);
}

#[test]
fn a_frame_that_is_asked_for_in_vain_is_compared_with_others_once() {
    let buffer = Buffer::new();
    for number in 0..9_998 {
        // Names of maximum length that differ only at their ends are the most expensive to compare.
        fix(&buffer, "map", &format!("{}{number:05}", "x".repeat(250)), 1.0);
    }
    let unknown = format!("{}12345", "y".repeat(250));
    for _ in 0..10_000 {
        let error = buffer.lookup("map", &unknown, At::Latest).unwrap_err();
        assert!(matches!(error, LookupError::UnknownFrame { similar: None, known: 9_999, .. }), "{error}");
    }
    // A waiter looks up again at each new transform, without searching for a suggestion.
    let mut waiting: Vec<_> = (0..100).map(|_| buffer.wait_for("map", &unknown, At::Latest)).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for pending in &mut waiting {
        assert!(std::pin::Pin::new(pending).poll(&mut context).is_pending());
    }
    for stamp in 1..100 {
        insert(&buffer, "map", "base", stamp, 1.0);
    }
}

#[test]
fn errors_name_what_is_missing() {
    let buffer = Buffer::new();
    let error = buffer.lookup("map", "base_link", At::Latest).unwrap_err();
    assert!(error.to_string().contains("does something publish /tf"), "{error}");

    insert(&buffer, "odom", "base_link", 1_000_000_000, 0.0);
    insert(&buffer, "odom", "base_link", 2_000_000_000, 0.0);
    insert(&buffer, "map", "landmark", 2_000_000_000, 0.0);
    let error = buffer.lookup("odom", "base_lnk", At::Latest).unwrap_err();
    assert_eq!(
        error,
        LookupError::UnknownFrame {
            frame: "base_lnk".to_owned(),
            similar: Some("base_link".to_owned()),
            known: 4
        }
    );
    assert!(error.to_string().ends_with("did you mean \"base_link\"?"), "{error}");

    let error = buffer.can_transform("map", "base_link", At::Latest).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no transform from \"base_link\" to \"map\": \"map\" is in the tree of \"map\", \"base_link\" in that of \
         \"odom\"; what is missing is a transform between the two trees"
    );

    fix(&buffer, "map", "odom", 0.0);
    let error = buffer.lookup("map", "base_link", at(2_250_000_000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no transform from \"base_link\" to \"map\" at 2.250000000 s: \"base_link\" in \"odom\" is known from \
         1.000000000 to 2.000000000 s; it is 250 ms behind: wait for it, or take the latest"
    );
    let error = buffer.lookup("map", "base_link", at(500_000_000)).unwrap_err();
    assert!(error.to_string().ends_with("the buffer keeps nothing from that long ago"), "{error}");
}

#[test]
fn a_latest_time_that_a_new_link_lacks_is_told() {
    let buffer = Buffer::new();
    insert(&buffer, "map", "odom", 10, 0.0);
    insert(&buffer, "odom", "base", 20, 0.0);
    let error = buffer.lookup("map", "base", At::Latest).unwrap_err();
    let LookupError::Extrapolation { time, lacking, .. } = &error else { panic!("{error}") };
    let children: Vec<&str> = lacking.iter().map(|link| link.child.as_str()).collect();
    assert_eq!((*time, children), (at(10), vec!["odom", "base"]), "first what is behind");
    assert!(error.to_string().contains("\"odom\" in \"map\" is behind"), "{error}");
}

#[test]
fn a_time_that_an_earlier_parent_lacks_is_told() {
    let buffer = Buffer::new();
    insert(&buffer, "map", "table", 12, 0.0);
    insert(&buffer, "table", "cup", 10, 0.0);
    insert(&buffer, "hand", "cup", 20, 0.0);
    insert(&buffer, "map", "hand", 500, 0.0);
    let error = buffer.lookup("map", "cup", at(15)).unwrap_err();
    let LookupError::Extrapolation { lacking, .. } = &error else { panic!("{error}") };
    assert_eq!((lacking.len(), lacking[0].child.as_str()), (1, "table"), "the cup was on it then");
    insert(&buffer, "map", "table", 16, 0.0);
    assert!(buffer.can_transform("map", "cup", at(15)).is_ok());
}

#[test]
fn a_frame_lies_in_itself_even_if_it_is_unknown() {
    let buffer = Buffer::new();
    for (when, stamp) in [(At::Latest, at(0)), (At::Time(at(7)), at(7))] {
        let found = buffer.lookup("base", "/base", when).unwrap();
        assert_eq!((found.stamp, found.transform), (stamp, Transform::IDENTITY));
    }
    let error = buffer.lookup("", "", At::Latest).unwrap_err();
    assert!(matches!(error, LookupError::UnknownFrame { .. }), "{error}");
    let long = "a".repeat(256);
    let error = buffer.lookup(&long, &long, At::Latest).unwrap_err();
    assert!(matches!(error, LookupError::NameTooLong { .. }), "{error}");
}

#[test]
fn connected_now_but_not_then() {
    let buffer = Buffer::new();
    insert(&buffer, "other", "cup", 10, 0.0);
    insert(&buffer, "map", "cup", 20, 0.0);
    let error = buffer.lookup("map", "cup", at(12)).unwrap_err();
    assert!(
        matches!(&error, LookupError::NotConnected { time: Some(time), source_root, .. }
        if *time == at(12) && source_root == "other"),
        "{error}"
    );
}

#[test]
fn loops_are_named() {
    let buffer = Buffer::new();
    for (parent, child) in [("b", "a"), ("c", "b"), ("a", "c"), ("a", "leaf")] {
        insert(&buffer, parent, child, 10, 0.0);
    }
    fix(&buffer, "map", "odom", 0.0);
    for (target, source) in [("leaf", "map"), ("map", "b"), ("a", "c")] {
        for when in [At::Latest, At::Time(at(10))] {
            let error = buffer.lookup(target, source, when).unwrap_err();
            let frames = ["a", "b", "c"].map(str::to_owned).to_vec();
            assert_eq!(error, LookupError::Loop { frames }, "{target} {source}");
        }
    }
    let error = buffer.can_transform("a", "b", At::Latest).unwrap_err();
    assert!(error.to_string().contains("\"a\" in \"b\" in \"c\" in \"a\""), "{error}");
    // Below the loop it does no harm.
    fix(&buffer, "leaf", "lidar", 1.5);
    insert(&buffer, "a", "twig", 10, 0.5);
    assert_eq!(x(&buffer, "leaf", "lidar", At::Latest), 1.5);
    assert_eq!(x(&buffer, "a", "lidar", at(10)), 1.5);
    assert_eq!(x(&buffer, "leaf", "twig", At::Latest), 0.5);
    // Once one of them has another parent, the loop is gone.
    for (parent, child) in [("map", "c"), ("c", "b"), ("b", "a")] {
        insert(&buffer, parent, child, 20, 0.0);
    }
    assert_eq!(x(&buffer, "map", "a", At::Latest), 0.0);
}

#[test]
fn what_is_wrong_is_refused() {
    type Refused = fn(&InsertError) -> bool;
    let message = |parent: &str, child: &str, translation: [f64; 3], rotation: [f64; 4]| {
        let ([x, y, z], [qx, qy, qz, qw]) = (translation, rotation);
        let transform = TransformMsg {
            translation: Vector3 { x, y, z },
            rotation: Quaternion { x: qx, y: qy, z: qz, w: qw },
        };
        let header = Header { frame_id: parent.to_owned(), ..Header::default() };
        TransformStamped { header, child_frame_id: child.to_owned(), transform }
    };
    let (here, upright) = ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    let cases: [(TransformStamped, Refused, &str); 9] = [
        (
            message("map", "", here, upright),
            |e| matches!(e, InsertError::NoChild { .. }),
            "no child_frame_id",
        ),
        (
            message("", "odom", here, upright),
            |e| matches!(e, InsertError::NoParent { .. }),
            "no header.frame_id",
        ),
        (
            message("/", "odom", here, upright),
            |e| matches!(e, InsertError::NoParent { .. }),
            "no header.frame_id",
        ),
        (
            message("a", "/a", here, upright),
            |e| matches!(e, InsertError::SelfTransform { .. }),
            "can't lie in itself",
        ),
        (
            message("a", "b", [f64::NAN, 0.0, 0.0], upright),
            |e| matches!(e, InsertError::NotFinite { .. }),
            "finite",
        ),
        (
            message("a", "b", here, [0.0, f64::INFINITY, 0.0, 1.0]),
            |e| matches!(e, InsertError::NotFinite { .. }),
            "finite",
        ),
        (
            message("a", "b", here, [0.0; 4]),
            |e| matches!(e, InsertError::NotNormalized { .. }),
            "unit quaternion",
        ),
        (
            message("a", "b", here, [0.0, 0.0, 0.0, 1.006]),
            |e| matches!(e, InsertError::NotNormalized { .. }),
            "1.006",
        ),
        (message("a", "b", here, [f64::MAX; 4]), |e| matches!(e, InsertError::NotNormalized { .. }), "inf"),
    ];
    let buffer = Buffer::new();
    for (message, is_that, text) in &cases {
        for error in [buffer.insert(message, "test"), buffer.insert_static(message, "test")] {
            let error = error.unwrap_err();
            assert!(is_that(&error) && error.to_string().contains(text), "{error}");
        }
    }
    assert!(buffer.frames().is_empty(), "refused transforms name no frames");
    let nearly = message("a", "b", here, [0.0, 0.0, 0.0, 1.004]);
    assert_eq!(buffer.insert(&nearly, "test"), Ok(Inserted::New));
    assert_eq!(buffer.lookup("a", "b", At::Latest).unwrap().transform, Transform::IDENTITY);
}

#[test]
fn old_and_repeated_ones() {
    let buffer = Buffer::builder().history(Duration::from_nanos(100)).build();
    insert(&buffer, "map", "odom", 1000, 1.0);
    assert_eq!(buffer.insert(&along_x("map", "odom", 1000, 1.0), "test"), Ok(Inserted::Repeated));
    assert_eq!(buffer.insert(&along_x("map", "odom", 1000, 2.0), "test"), Ok(Inserted::Replaced));
    assert_eq!(buffer.insert(&along_x("map", "odom", 900, 0.0), "test"), Ok(Inserted::New));
    assert_eq!(x(&buffer, "map", "odom", at(950)), 1.0, "between the two");
    let error = buffer.insert(&along_x("map", "odom", 899, 0.0), "test").unwrap_err();
    assert!(matches!(&error, InsertError::Old { latest, .. } if *latest == at(1000)), "{error}");
    // What is refused changes nothing.
    insert(&buffer, "map", "odom", 1050, 3.0);
    let before = (x(&buffer, "map", "odom", at(920)), buffer.frames());
    assert!(buffer.insert(&along_x("other", "odom", 940, 9.0), "late").is_err());
    assert_eq!((x(&buffer, "map", "odom", at(920)), buffer.frames()), before);
    fix(&buffer, "odom", "base", 1.0);
    assert_eq!(buffer.insert_static(&along_x("odom", "base", 5, 1.0), "test"), Ok(Inserted::Repeated));
    assert_eq!(buffer.insert_static(&along_x("odom", "base", 5, 1.5), "test"), Ok(Inserted::Replaced));
    let negative = along_x("map", "ancient", i64::from(i32::MIN) * 1_000_000_000, 0.0);
    assert_eq!(buffer.insert(&negative, "test"), Ok(Inserted::New));
}

#[test]
fn what_is_kept_is_bounded() {
    let buffer = Buffer::builder().max_frames(3).max_samples(4).build();
    for stamp in 1..=10 {
        insert(&buffer, "map", "odom", stamp, 0.0);
    }
    insert(&buffer, "odom", "base", 1, 0.0);
    let error = buffer.insert(&along_x("base", "lidar", 1, 0.0), "test").unwrap_err();
    assert!(matches!(&error, InsertError::TooManyFrames { limit: 3, .. }), "{error}");
    // Neither of two names is added if there is no room for both.
    let small = Buffer::builder().max_frames(1).build();
    assert!(small.insert(&along_x("map", "odom", 1, 0.0), "test").is_err() && small.frames().is_empty());
    let frames = buffer.frames();
    let odom = frames.iter().find(|frame| frame.name == "odom").unwrap();
    assert_eq!((odom.samples, odom.crowded_out, odom.range), (4, 6, Some([at(7), at(10)])));
}

#[test]
fn clearing_leaves_what_is_static() {
    let buffer = Buffer::new();
    insert(&buffer, "map", "odom", 10, 1.0);
    fix(&buffer, "odom", "base", 1.0);
    buffer.clear();
    assert!(buffer.lookup("map", "odom", At::Latest).is_err());
    assert_eq!(x(&buffer, "odom", "base", At::Latest), 1.0);
    insert(&buffer, "map", "odom", 5, 3.0); // an earlier time: the clock jumped back
    assert_eq!(x(&buffer, "map", "base", At::Latest), 4.0);
}

#[test]
fn frames_are_told() {
    let buffer = Buffer::new();
    for tenth in 0..=10 {
        buffer.insert(&along_x("map", "odom", 1_000_000_000 + tenth * 100_000_000, 0.0), "slam").unwrap();
    }
    fix(&buffer, "odom", "base", 0.0);
    let frames = buffer.frames();
    let told: Vec<_> = frames
        .iter()
        .map(|frame| (frame.name.as_str(), frame.parent.as_deref(), frame.is_static, frame.samples))
        .collect();
    assert_eq!(
        told,
        [("base", Some("odom"), true, 0), ("map", None, false, 0), ("odom", Some("map"), false, 11)]
    );
    assert_eq!((frames[2].authority.as_str(), frames[2].rate()), ("slam", Some(10.0)));
    assert_eq!((frames[0].rate(), frames[1].rate()), (None, None));
}

#[test]
fn messages_are_taken_to_other_frames() {
    let buffer = Buffer::new();
    insert(&buffer, "map", "base", 10, 5.0);
    fix(&buffer, "base", "camera", 1.0);
    let seen = |frame: &str, stamp| PoseStamped {
        header: Header { stamp: at(stamp).to_msg(), frame_id: frame.to_owned() },
        pose: Pose::default(),
    };
    let pose = buffer.transform(&seen("camera", 10), "map").unwrap();
    assert_eq!(
        (pose.header.frame_id.as_str(), pose.header.stamp.nanosec, pose.pose.position.x),
        ("map", 10, 6.0)
    );
    assert!(buffer.transform(&seen("camera", 11), "map").is_err());
    let pose = buffer.transform(&seen("camera", 11), "base").unwrap();
    assert_eq!((pose.header.stamp.nanosec, pose.pose.position.x), (11, 1.0), "static: its own stamp");
}

#[test]
fn a_lookup_allocates_nothing() {
    let buffer = Buffer::new();
    let names: Vec<String> = (0..=60).map(|number| format!("link_{number}")).collect();
    for pair in names.windows(2) {
        for stamp in [10, 20] {
            insert(&buffer, &pair[0], &pair[1], stamp, 1.0);
        }
    }
    let (found, count, _) = allocations(|| {
        let latest = buffer.lookup("link_60", "link_50", At::Latest);
        latest.and(buffer.lookup("link_0", "link_60", at(15)))
    });
    assert_eq!((count, found.unwrap().transform.translation[0]), (0, 60.0));
}
