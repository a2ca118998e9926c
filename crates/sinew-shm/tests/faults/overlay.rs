//! A file system on which the lock of a mapped file isn't visible through the file's name.

use crate::limits::{has_namespaces, skip};
use crate::process::{Part, Scene};
use crate::station::Observed;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::process::Command;
use std::sync::Arc;

/// Mounts an overlay on `m` below the directory `$1`.
const MOUNT: &str = "mount -t tmpfs none $1 && cd $1 && mkdir l u w m && \
                     mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m";

/// Joins on the overlay.
pub(crate) fn join(part: &Part) {
    let domain = Domain::open(Some(&part.directory.join("m")), 0).unwrap();
    let is_refused = |error: JoinError| {
        assert!(matches!(error, JoinError::Domain(DomainError::Locks { .. })), "{error:?}");
        let sentence = error.to_string();
        assert!(sentence.contains("overlayfs") && sentence.contains("SINEW_DIR"), "{sentence}");
    };
    is_refused(domain.try_out().unwrap_err());
    is_refused(Participant::join(&domain, Arc::new(Observed::default())).unwrap_err());
    let left: Vec<_> = std::fs::read_dir(domain.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // An overlay that several users share.
    let shared = part.directory.join("m/shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::os::unix::fs::PermissionsExt::from_mode(0o2770)).unwrap();
    match Domain::open(Some(&shared), 0) {
        Ok(domain) => is_refused(domain.try_out().unwrap_err()),
        Err(error) => is_refused(error.into()),
    }
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn on_an_overlay_joining_is_refused_with_a_sentence_that_says_what_to_do() {
    if !has_namespaces("an overlay") {
        return;
    }
    let scene = Scene::new();
    let base = scene.base().to_str().unwrap();
    let tried = Command::new("unshare").args(["-rm", "sh", "-c", MOUNT, "sh", base]).output().unwrap();
    if !tried.status.success() {
        skip(&format!("no overlay can be mounted: {}", String::from_utf8_lossy(&tried.stderr)));
        return;
    }
    let mount = format!("{MOUNT} && cd / && shift && exec \"$@\"");
    let mut child = scene.child_by("joins", "", &["unshare", "-rm", "sh", "-c", &mount, "sh", base]);
    let status = child.wait();
    assert!(status.success(), "{status}, {:?}", child.report());
    assert_eq!(child.report(), ["fine"]);
}
