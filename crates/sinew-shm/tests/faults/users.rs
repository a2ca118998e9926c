//! Several users who share a base, as a group does: what one of them may put there for another to find.

use crate::limits::skip;
use crate::process::{Part, Scene};
use sinew_shm::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

/// A group, and two users in it.
const GROUP: u32 = 61_000;
const VICTIM: (u32, u32) = (61_001, GROUP);
const OTHER: (u32, u32) = (61_002, GROUP);

/// How often what another user may come in between is tried.
const ROUNDS: usize = 1000;

/// Whether this test may become other users; says so if not.
pub(crate) fn can_be_others() -> bool {
    // SAFETY: takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        skip("becoming another user needs root");
    }
    is_root
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// A base as the README has it for several users.
fn shared() -> Scene {
    let scene = Scene::new();
    fs::set_permissions(scene.base(), PermissionsExt::from_mode(0o2770)).unwrap();
    scene
}

/// The same, of a group.
fn of_group() -> Scene {
    let scene = shared();
    chown(scene.base(), None, Some(GROUP)).unwrap();
    // Changing the group takes the bit away.
    fs::set_permissions(scene.base(), PermissionsExt::from_mode(0o2770)).unwrap();
    scene
}

/// A directory that is nobody's business but its owner's.
fn private(path: PathBuf) -> PathBuf {
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    path
}

#[test]
fn a_link_in_a_shared_base_is_neither_followed_nor_changed_behind() {
    let (scene, elsewhere) = (shared(), tempfile::tempdir_in("/dev/shm").unwrap());
    let home = private(elsewhere.path().join("home"));
    symlink(&home, scene.base().join("0")).unwrap();
    symlink(&home, scene.base().join("types")).unwrap();
    let is_refused = |error: DomainError| {
        assert!(matches!(error, DomainError::NotADirectory { .. }), "{error:?}");
        assert!(error.to_string().contains("symbolic link"), "{error}");
    };
    is_refused(Domain::open(Some(scene.base()), 0).unwrap_err());
    is_refused(Domain::find(Some(scene.base()), 0).unwrap_err());
    let domain = Domain::open(Some(scene.base()), 1).unwrap();
    assert_eq!(mode(domain.path()), 0o2770, "the base's");
    assert!(domain.keep_description(&[7; 32], "it").is_err());
    assert!(domain.description(&[7; 32]).is_err());
    assert_eq!(mode(&home), 0o700);
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
    // A file is no better, and stays as it is.
    let file = scene.base().join("2");
    fs::write(&file, "mine").unwrap();
    is_refused(Domain::open(Some(scene.base()), 2).unwrap_err());
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    // What is needed to make one with rights is gone.
    let mut names: Vec<_> =
        fs::read_dir(scene.base()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["0", "1", "2", "types"]);
}

#[test]
fn a_base_that_was_given_may_be_a_link_and_rights_of_what_is_there_stay() {
    let scene = shared();
    let directory = private(scene.base().join("0"));
    let link = tempfile::tempdir_in("/dev/shm").unwrap();
    let link = link.path().join("base");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(scene.base(), &link).unwrap();
    let domain = Domain::open(Some(&link), 0).unwrap();
    assert_eq!(domain, Domain::open(Some(scene.base()), 0).unwrap());
    assert_eq!(mode(&directory), 0o700, "made by hand");
    domain.keep_description(&[7; 32], "it").unwrap();
    assert_eq!(mode(&scene.base().join("types")) & 0o777, 0o700, "the domain's");
    fs::remove_dir_all(link.parent().unwrap()).unwrap();
}

/// Opens its domains, again and again. Words: how often; `default` for the default base, once.
pub(crate) fn open(part: &Part) {
    if part.words[0] == "default" {
        part.say(&Domain::open(None, 0).unwrap_err().to_string());
        std::process::exit(0);
    }
    part.say("begins");
    let mut opened = 0;
    for _ in 0..part.words[0].parse().unwrap() {
        if let Ok(domain) = Domain::open(Some(&part.directory), 0) {
            opened += usize::from(domain.keep_description(&[0; 32], "it").is_ok());
            let _ = domain.try_out(); // wherever it is by now
        }
        // So that both are made once more.
        let _ = fs::remove_dir(part.directory.join("0"));
        let _ = fs::remove_file(part.directory.join("types").join(format!("{}.json", "00".repeat(32))));
        let _ = fs::remove_dir(part.directory.join("types"));
    }
    part.say(&format!("opened {}", opened > 0));
    std::process::exit(0);
}

/// Puts something of the victim's wherever the victim looks, until it is killed. Words: what; where a link leads to.
pub(crate) fn plant(part: &Part) {
    let base = part.directory.as_path();
    let (what, target) = (part.words[0].as_str(), Path::new(&part.words[1]));
    let (private, aside) = (base.join("private"), base.join("aside"));
    let places = [base.join("0"), base.join("types")];
    part.say("begins");
    loop {
        match what {
            "links" => {
                for place in &places {
                    let _ = symlink(target, &aside);
                    let _ = fs::rename(place, base.join("gone"));
                    let _ = fs::rename(&aside, place);
                    let _ = fs::remove_file(place);
                    let _ = fs::remove_dir(base.join("gone"));
                }
            }
            // The victim's own, which isn't to be shared. It takes the place of an empty one.
            "swaps" => {
                for place in &places {
                    for _ in 0..100 {
                        let _ = fs::rename(&private, place);
                        let _ = fs::rename(place, &private);
                    }
                }
            }
            // What the victim makes on the way.
            _ => {
                for entry in fs::read_dir(base).unwrap().flatten() {
                    if entry.file_name().to_string_lossy().starts_with('.') {
                        let _ = fs::rename(entry.path(), &aside);
                        let _ = fs::rename(&private, entry.path());
                        let _ = fs::rename(entry.path(), &private);
                        let _ = symlink(target, entry.path());
                        let _ = fs::remove_file(entry.path());
                        let _ = fs::rename(&aside, entry.path());
                    }
                }
            }
        }
    }
}

/// A member of the group who does this all the time, while another one opens the domain.
fn gets_no_rights(what: &str) {
    if !can_be_others() {
        return;
    }
    let (scene, elsewhere) = (of_group(), tempfile::tempdir_in("/dev/shm").unwrap());
    fs::set_permissions(elsewhere.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let home = private(elsewhere.path().join("home"));
    let beside = private(scene.base().join("private"));
    for own in [&home, &beside] {
        chown(own, Some(VICTIM.0), Some(GROUP)).unwrap();
        fs::set_permissions(own, PermissionsExt::from_mode(0o700)).unwrap();
    }
    fs::write(beside.join("letter"), "").unwrap(); // so that it can't be removed as an empty one
    let identity = fs::metadata(&beside).unwrap().ino();
    let mut planting = scene.child_as(OTHER, "plants", &format!("{what} {}", home.display()));
    planting.says("begins");
    let mut opening = scene.child_as(VICTIM, "opens", &ROUNDS.to_string());
    assert!(opening.wait().success(), "{:?}", opening.report());
    planting.kill();
    assert_eq!(mode(&home), 0o700);
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0, "nothing was made there");
    let mut all = fs::read_dir(scene.base()).unwrap().map(|entry| entry.unwrap().path());
    let found = all.find(|path| fs::symlink_metadata(path).unwrap().ino() == identity);
    assert_eq!(mode(&found.expect("it is somewhere")), 0o700);
}

#[test]
fn who_plants_links_all_the_time_gets_no_rights() {
    gets_no_rights("links");
}

#[test]
fn who_puts_another_directory_in_the_place_of_a_new_one_gets_no_rights() {
    gets_no_rights("swaps");
}

#[test]
fn who_disturbs_the_making_of_a_directory_gets_no_rights() {
    gets_no_rights("disturbs");
}

#[test]
fn a_link_in_place_of_the_default_base_is_refused() {
    if !can_be_others() {
        return;
    }
    let (scene, elsewhere) = (of_group(), tempfile::tempdir_in("/dev/shm").unwrap());
    // Nobody's number but this process's.
    let user = 1_000_000 + std::process::id();
    let home = private(elsewhere.path().join("home"));
    chown(&home, Some(user), Some(user)).unwrap();
    fs::set_permissions(elsewhere.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let base = PathBuf::from(format!("/dev/shm/sinew-{user}"));
    symlink(&home, &base).unwrap();
    let mut child = scene.child_as((user, user), "opens", "default");
    let succeeded = child.wait().success();
    fs::remove_file(&base).unwrap();
    assert!(succeeded, "{:?}", child.report());
    assert!(child.report()[0].contains("symbolic link"), "{:?}", child.report());
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}
