//! Files that ask for more than any machine has: each is refused with a sentence, quickly and
//! without using memory.

use std::fmt::Write as _;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use sinew_launch::{LoadError, arguments, load};

use super::{Place, names};

#[test]
fn values_that_double_themselves() {
    let place = Place::new();
    let mut text = "<launch><let name='a0' value='xxxxxxxxxxxxxxxx'/>\n".to_owned();
    for step in 1..60 {
        let before = step - 1;
        let _ = writeln!(text, "<let name='a{step}' value='$(var a{before})$(var a{before})'/>");
    }
    text.push_str("</launch>");
    let wanted = "a.xml:14:17: this value is longer than 131071 bytes; Linux allows no longer word in a command line; \
                  check for values that repeat others";
    assert_eq!(place.refused("a.xml", &text, &[]), wanted);

    // In one text, and by arguments with defaults that refer to others.
    let many = "$(var a)".repeat(10_000);
    let text = format!("[arguments]\na = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'\nb = '{many}'\n");
    let refused = place.refused("a.toml", &text, &[]);
    assert!(refused.starts_with("a.toml:3:5: this value is longer than 131071 bytes"), "{refused}");
    // `--show-args` lists the argument without a value.
    let all = arguments(&place.path().join("a.toml")).unwrap();
    assert_eq!((all[1].name.as_str(), all[1].value.as_deref()), ("b", None));
}

#[test]
fn values_that_are_too_many() {
    let place = Place::new();
    let mut text = format!("<launch><let name='a' value='{}'/>\n", "x".repeat(100_000));
    for step in 0..800 {
        let _ = writeln!(text, "<let name='a{step}' value='$(var a)'/>");
    }
    text.push_str("</launch>");
    let refused = place.refused("a.xml", &text, &[]);
    assert!(refused.contains("all values of this plan together are longer than 64 MiB"), "{refused}");

    // The number of settings times that of processes.
    let mut text = "launch:\n".to_owned();
    for number in 0..20 {
        let _ = writeln!(text, "- set_parameter: {{name: p{number}, value: '{}'}}", "x".repeat(50_000));
    }
    text.push_str(&"- node: {pkg: robot, exec: driver}\n".repeat(100));
    let refused = place.refused("a.yaml", &text, &[]);
    assert!(refused.contains("all values of this plan together are longer than 64 MiB"), "{refused}");
}

#[test]
fn includes_that_include_twice() {
    let place = Place::new();
    for file in 0..16 {
        let next = file + 1;
        let text = format!("[include.a]\nfile = 'f{next}.toml'\n[include.b]\nfile = 'f{next}.toml'\n");
        place.write(&format!("f{file}.toml"), &text);
    }
    place.write("f16.toml", "[arguments]\n");
    let refused = place.refused("a.toml", "[include.f]\nfile = 'f0.toml'\n", &[]);
    assert!(
        refused.contains(".toml:") && refused.contains("more than 1000 launch files are included"),
        "{refused}"
    );
    let LoadError::At { problem, .. } = arguments(&place.path().join("a.toml")).unwrap_err() else {
        panic!()
    };
    assert!(problem.to_string().contains("more than 1000"), "{problem}");
    // A few of them are allowed.
    assert!(load(&place.path().join("f8.toml"), &place.options(&[])).is_ok());
}

#[test]
fn a_loop_is_called_one_and_depth_is_not() {
    let place = Place::new();
    for file in 0..40 {
        place.write(&format!("f{file}.toml"), &format!("[include.a]\nfile = 'f{}.toml'\n", file + 1));
    }
    let refused = place.refused("a.toml", "[include.f]\nfile = 'f0.toml'\n", &[]);
    assert!(
        refused.starts_with(
            "f30.toml:1:10: files are included more than 32 deep: a.toml includes f0.toml includes"
        ),
        "{refused}"
    );
    assert!(!refused.contains("loop"), "{refused}");
    place.write("f3.toml", "[include.a]\nfile = 'f1.toml'\n");
    let refused = place.refused("a.toml", "[include.f]\nfile = 'f0.toml'\n", &[]);
    assert!(refused.starts_with("f3.toml:1:10: a loop: a.toml includes f0.toml"), "{refused}");
    std::os::unix::fs::symlink("a.toml", place.path().join("link.toml")).unwrap();
    let refused = place.refused("a.toml", "[include.link]\nfile = 'link.toml'\n", &[]);
    assert_eq!(refused, "a.toml:1:10: a loop: a.toml includes a.toml");
}

/// The greatest number of processes, named and numbered, that wait for each other and have
/// components; this took minutes when each was compared with all.
#[test]
fn processes_up_to_the_limit() {
    let place = Place::new();
    let mut text = String::new();
    for number in 0..3999 {
        let after = if number == 0 { String::new() } else { format!("after = ['p{}']\n", number - 1) };
        let _ = writeln!(text, "[process.p{number}]\nprogram = 'talker'\nnode = 'n{number}'\n{after}");
    }
    let last = "[process.last]\nprogram = 'talker'\n";
    let plan = place.plan("a.toml", &format!("{text}{last}"), &[]);
    assert_eq!((plan.processes.len(), plan.processes[3998].policy.after.as_slice()), (4000, &[3997][..]));
    let refused = place.refused("a.toml", &format!("{text}{last}[process.more]\nprogram = 'talker'\n"), &[]);
    assert!(refused.contains("one process more than the 4000 of a plan"), "{refused}");
    let circle = text.replacen("[process.p0]\n", "[process.p0]\nafter = ['p3998']\n", 1);
    let refused = place.refused("a.toml", &circle, &[]);
    assert!(refused.contains("so none would start: p0 waits for p3998 waits for p3997"), "{:.200}", refused);

    // All in one line, and without names.
    let node = "<node pkg='robot' exec='driver'/>";
    let plan = place.plan("a.xml", &format!("<launch>{}</launch>", node.repeat(4000)), &[]);
    assert_eq!(names(&plan)[..3], ["driver", "driver-2", "driver-3"]);
    assert_eq!(names(&plan)[3999], "driver-4000");
    let item = "- node: {pkg: robot, exec: driver}\n";
    let refused = place.refused("a.yaml", &format!("launch:\n{}", item.repeat(4001)), &[]);
    assert!(refused.starts_with("a.yaml:4002:3: this is one process more"), "{refused}");
}

#[test]
fn nesting_that_would_cost_stack() {
    let place = Place::new();
    for text in [
        format!("[{}]\n", vec!["group.a"; 100_000].join(".")),
        format!("[process.a]\nprogram = 'talker'\nparameters.{} = 1\n", vec!["a"; 100_000].join(".")),
        format!("{} = 1\n", vec!["group"; 200_000].join(".")),
        format!("namespace = {}\n", "[".repeat(200_000)),
        format!("namespace = {}\n", "{a=".repeat(200_000)),
    ] {
        let refused = place.refused("a.toml", &text, &[]);
        assert!(refused.starts_with("a.toml:"), "{:.300}", refused);
    }
    let refused = place.refused("a.xml", &format!("<launch>{}", "<group>".repeat(200_000)), &[]);
    assert!(refused.starts_with("a.xml:"), "{:.300}", refused);
    let refused = place.refused("a.yaml", &format!("launch: {}", "[".repeat(200_000)), &[]);
    assert!(refused.starts_with("a.yaml:"), "{:.300}", refused);
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let place = Place::new();
    std::os::unix::fs::symlink("/dev/zero", place.path().join("zero.toml")).unwrap();
    let pipe = place.path().join("pipe.xml");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for (file, what) in [("zero.toml", "a device"), ("pipe.xml", "a pipe"), ("ros", "a directory")] {
        let error = load(&place.path().join(file), &place.options(&[])).unwrap_err().to_string();
        assert!(error.ends_with(&format!("{file}: it is {what}, and has to be a regular file")), "{error}");
        let refused = place.refused("a.toml", &format!("[include.f]\nfile = '{file}'\n"), &[]);
        assert_eq!(
            refused,
            format!("a.toml:2:8: can't read {file}: it is {what}, and has to be a regular file")
        );
    }
    for file in ["/dev/zero", "pipe.xml"] {
        let text = format!("[process.a]\nprogram = 'talker'\nparameter_files = '{file}'\n");
        let refused = place.refused("a.toml", &text, &[]);
        assert!(refused.starts_with("a.toml:3:19: can't read"), "{refused}");
        assert!(refused.ends_with("and has to be a regular file"), "{refused}");
    }
    std::fs::File::create(place.path().join("large.yaml")).unwrap().set_len(5 << 20).unwrap();
    let refused = place.refused("a.toml", "[include.f]\nfile = 'large.yaml'\n", &[]);
    assert!(
        refused.ends_with("large.yaml: it has more than 4 MiB, the most that is read of one file"),
        "{refused}"
    );
}
