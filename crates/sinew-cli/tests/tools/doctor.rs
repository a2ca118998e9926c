//! The doctor's findings.

use sinew_shm::LAYOUT_VERSION;

use crate::{Base, text};

#[test]
fn another_layout_is_told_and_left_alone() {
    let base = Base::new();
    drop(base.join());
    let mut header = vec![0; 4096];
    header[..8].copy_from_slice(b"SINEWSHM");
    header[12..16].copy_from_slice(&(LAYOUT_VERSION + 1).to_le_bytes());
    let name = "00000000000000ff.control";
    std::fs::write(base.domain().join(name), header).unwrap();
    let file = std::fs::File::options().write(true).open(base.domain().join(name)).unwrap();
    // This process isn't the one that asks, so any lock means that its owner lives. (A participant
    // in this process would see no lock, and would open and close the file, which releases a lock
    // of this kind.)
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();

    let output = base.sinew(&["topic", "list"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let version =
        format!("{name}: has layout version {}, but this program has {LAYOUT_VERSION}", LAYOUT_VERSION + 1);
    assert!(text(&output.stderr).contains(&version), "{}", text(&output.stderr));
    let told = base.doctor(&["--clean"]);
    assert!(told.contains(&format!("WRONG   participants    {version}")), "{told}");
    assert!(base.files().contains(&name.to_owned()));
}

/// The check for users who wonder why everything is slow.
#[test]
fn a_directory_that_is_not_in_memory_is_said() {
    let sinew = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).args(["--dir", "/proc/self"]); // not in memory on any machine
        command.env_remove("SINEW_DOMAIN_ID").env_remove("ROS_DOMAIN_ID").output().unwrap()
    };
    let said = text(&sinew(&["node", "list"]).stderr);
    assert!(said.contains("/proc/self is on a file system that is not a tmpfs"), "{said}");
    assert!(said.contains("set SINEW_DIR"), "{said}");
    let told = text(&sinew(&["doctor"]).stdout);
    assert!(told.contains("advice  file system     /proc/self is not a tmpfs"), "{told}");
    // No such finding if all is well.
    let base = Base::new();
    drop(base.join());
    let said = text(&base.sinew(&["node", "list"]).stderr);
    assert!(!said.contains("not a tmpfs") && !said.contains("programs of user"), "{said}");
}

#[test]
fn the_doctor_looks_at_the_directory() {
    use std::os::unix::fs::PermissionsExt as _;
    let base = Base::new();
    let told = base.doctor(&[]);
    assert!(told.contains("isn't there: the first participant makes it"), "{told}");
    assert!(told.contains("is a tmpfs") && told.contains("fine    kernel"), "{told}");

    drop(base.join());
    std::fs::write(base.domain().join("notes.txt"), "").unwrap();
    let told = base.doctor(&[]);
    assert!(told.contains("fine    rights") && told.contains("notes.txt are none of ours"), "{told}");
    assert!(told.contains("stale files     none"), "{told}");

    std::fs::set_permissions(base.domain(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let told = base.doctor(&[]);
    assert!(
        told.contains("WRONG   directory") && told.contains("mode 777") && told.contains("chmod 700"),
        "{told}"
    );
    assert!(base.failure(&["node", "list"]).contains("chmod 700"));
}
