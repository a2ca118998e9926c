//! Several users who share a base, as a group does: files that one of them may put there for
//! another to find.

use crate::limits::skip;
use crate::process::{Part, Process, Scene};
use crate::reuse::One;
use crate::station::until;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A group, and two users in it.
const GROUP: u32 = 61_000;
const VICTIM: (u32, u32) = (61_001, GROUP);
const OTHER: (u32, u32) = (61_002, GROUP);
const THIRD: (u32, u32) = (61_003, GROUP);

/// Number of attempts at actions that another user may interrupt.
const ROUNDS: usize = 1000;

/// Whether this test may become other users; reports it if not.
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

/// A base for several users, as in the README.
fn shared() -> Scene {
    let scene = Scene::new();
    fs::set_permissions(scene.base(), PermissionsExt::from_mode(0o2770)).unwrap();
    scene
}

/// The same, for a group.
fn of_group() -> Scene {
    let scene = shared();
    chown(scene.base(), None, Some(GROUP)).unwrap();
    // Changing the group clears the bit.
    fs::set_permissions(scene.base(), PermissionsExt::from_mode(0o2770)).unwrap();
    scene
}

/// A directory that only its owner may enter.
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
    // A file is refused as well, and stays unchanged.
    let file = scene.base().join("2");
    fs::write(&file, "mine").unwrap();
    is_refused(Domain::open(Some(scene.base()), 2).unwrap_err());
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    // The temporary directory, in which a domain's is made with its mode, is gone.
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

/// Opens its domains again and again. Words: how often; `default` for the default base, once.
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
        // So that both are created once more.
        let _ = fs::remove_dir(part.directory.join("0"));
        let _ = fs::remove_file(part.directory.join("types").join(format!("{}.json", "00".repeat(32))));
        let _ = fs::remove_dir(part.directory.join("types"));
    }
    part.say(&format!("opened {}", opened > 0));
    std::process::exit(0);
}

/// Puts one kind of thing wherever the victim looks, until it is killed. Words: the kind; the
/// target of a link.
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
            // The victim's own directory, which must not be shared. It takes the place of an empty
            // one.
            "swaps" => {
                for place in &places {
                    for _ in 0..100 {
                        let _ = fs::rename(&private, place);
                        let _ = fs::rename(place, &private);
                    }
                }
            }
            // The directory that the victim creates on the way.
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

/// A member of the group does this all the time, while another one opens the domain.
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
    // A number that no other process has.
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

/// Reads a number of messages, and sleeps in between for as long as it takes. Words: how many;
/// `helper` if its helper thread reads.
pub(crate) fn sleep(part: &Part) {
    let one = One::join_at(&part.directory);
    let (participant, count) = (one.participant.clone(), part.words[0].parse().unwrap());
    match part.words.get(1) {
        None => read_all(&participant, one.only_incoming(), count),
        Some(_) => one.on_helper(
            |keeps| keeps.incoming.lock().pop(),
            move |incoming| read_all(&participant, incoming, count),
        ),
    }
    part.say("read all");
    one.participant.leave();
    std::process::exit(0);
}

fn read_all(participant: &Arc<Participant>, mut incoming: Incoming, count: u64) {
    let port = participant.port(None).unwrap();
    incoming.set_port(Some(&port));
    let mut buffer = Vec::new();
    while incoming.next() <= count {
        port.drain();
        while let Some(message) = incoming.read(&mut buffer).unwrap() {
            assert_eq!((message.missed, buffer.as_slice()), (0, &[message.number as u8; 40][..]));
            incoming.set_cursor(message.number + 1);
        }
        let seen = port.bell();
        port.park();
        if !port.is_pending() && incoming.next() <= count {
            port.sleep(seen, None);
        }
        port.unpark();
    }
}

/// Publishes a number of messages, each after the one before was read, and sleeps in between for as
/// long as it takes. Words: how many; `helper` if its helper thread publishes.
pub(crate) fn wake(part: &Part) {
    let one = One::join_silently(&part.directory);
    let (writer, count) = (one.writer(), part.words[0].parse().unwrap());
    match part.words.get(1) {
        None => publish_all(writer, &one.first_peer(), count),
        Some(_) => one.on_helper(
            |keeps| keeps.peers.lock().first().cloned(),
            move |peer| publish_all(writer, &peer, count),
        ),
    }
    part.say("published all");
    one.participant.leave();
    std::process::exit(0);
}

fn publish_all(mut writer: Writer, peer: &Arc<Peer>, count: u64) {
    let connect = Connect { target: None, first: 1, live: 1, depth: 1, capacity: Some(1) };
    writer.connect(peer, &connect).unwrap();
    for number in 1..=count {
        while let Some(waiting) = writer.wait_for_room() {
            waiting.sleep(None);
        }
        writer.publish_inline(number, &Head::default(), &[number as u8; 40]);
    }
}

fn wake_each_other(sleeping: &str, waking: &str) {
    if !can_be_others() {
        return;
    }
    let scene = of_group();
    let mut sleeping = scene.child_as(VICTIM, "sleeps", sleeping);
    let mut waking = scene.child_as(OTHER, "wakes", waking);
    waking.says("published all");
    sleeping.says("read all");
    assert!(sleeping.wait().success() && waking.wait().success());
    assert_eq!(scene.files(), Vec::<String>::new());
}

/// Two users wake each other for each message.
#[test]
fn users_of_a_group_wake_each_other() {
    wake_each_other("300", "300");
}

/// The thread that watches the doorbell may itself wait in the code that it runs.
#[test]
fn another_user_wakes_a_helper_thread_that_reads() {
    wake_each_other("50 helper", "50");
}

#[test]
fn another_user_wakes_a_helper_thread_that_publishes() {
    wake_each_other("50", "50 helper");
}

/// Shortens the files of others that it may write, and tries to change the others.
pub(crate) fn shorten(part: &Part) {
    let mut shortened = Vec::new();
    for entry in fs::read_dir(part.directory.join("0")).unwrap() {
        let path = entry.unwrap().path();
        assert!(fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).is_err(), "{path:?}");
        if let Ok(file) = fs::OpenOptions::new().write(true).open(&path) {
            file.set_len(1 << 20).unwrap();
            file.set_len(0).unwrap();
            shortened.push(path.extension().unwrap().to_str().unwrap().to_owned());
        }
    }
    part.say(&format!("shortened {}", shortened.join(" ")));
    std::process::exit(0);
}

/// Waits until it has published this many more messages.
fn goes_on(child: &mut Process) {
    let number = |line: &String| line.strip_prefix("published ").map(|number| number.parse::<u64>().unwrap());
    let so_far = child.report().iter().filter_map(number).max().unwrap();
    child.says(&format!("published {}", so_far + 100));
}

/// Processes of several users, each of which sends to and receives from all others, once they all
/// do.
fn talking<const N: usize>(scene: &Scene, users: [(u32, u32); N]) -> [Process; N] {
    let mut all = users.map(|user| scene.child_as(user, "talks", "0 0"));
    all.iter_mut().for_each(|child| drop(child.says("published 20")));
    all
}

#[test]
fn a_user_whose_process_is_killed_holds_up_nobody_and_leaves_nothing() {
    if !can_be_others() {
        return;
    }
    let scene = of_group();
    let [mut killed, mut others @ ..] = talking(&scene, [VICTIM, OTHER, THIRD]);
    let id: u64 = killed.says("id ").parse().unwrap();
    killed.kill();
    others.iter_mut().for_each(goes_on);
    until("its files are gone", || !scene.files().iter().any(|name| name.starts_with(&format!("{id:016x}"))));
    others.iter_mut().for_each(goes_on);
}

/// No participant has mapped memory that another user may write.
#[test]
fn one_of_the_group_who_shortens_every_file_disturbs_nobody() {
    if !can_be_others() {
        return;
    }
    let scene = of_group();
    let mut talking = talking(&scene, [VICTIM, OTHER]);
    let mut shortening = scene.child_as(THIRD, "shortens", "");
    assert_eq!(shortening.says("shortened "), "doorbell doorbell");
    talking.iter_mut().for_each(goes_on);
}
