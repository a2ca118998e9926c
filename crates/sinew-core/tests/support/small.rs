//! Tests on a small file system of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the small file system is; absent in the test itself.
const PLACE: &str = "SINEW_TEST_SMALL_PLACE";

/// Runs the part in a process of its own, for which a file system of this size is mounted, if this
/// user may mount one.
#[track_caller]
pub(crate) fn on_a_small_file_system(
    test: &str,
    size: &str,
    part: impl FnOnce(&Path) -> sinew::Result<()>,
) -> sinew::Result<()> {
    if let Some(place) = std::env::var_os(PLACE) {
        return part(&PathBuf::from(place));
    }
    match Command::new("unshare").args(["-rm", "true"]).output() {
        Ok(done) if done.status.success() => {}
        other => {
            let why = format!("a small file system needs unshare(1) and user namespaces: {other:?}");
            super::skip(&why);
            return Ok(());
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mount = format!(
        "mount -t tmpfs -o size={size},mode=700 none {} && exec \"$0\" \"$@\"",
        directory.path().display()
    );
    let done = Command::new("unshare")
        .args(["-rm", "sh", "-c", &mount])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(PLACE, directory.path())
        .output()
        .expect("unshare was there before");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}
