//! Invalid files in the directory.

use crate::process::{Part, Scene};
use crate::reuse::One;
use crate::station::{Observed, Station, endpoint, until};
use sinew_shm::inspect::*;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn give(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// Two stations that exchange messages, whatever else happens meanwhile.
fn undisturbed(scene: &Scene, act: impl FnOnce(&Path)) {
    let (a, b) = (Station::join(scene.base()).spin(), Station::join(scene.base()).spin());
    act(&scene.base().join("0"));
    let c = Station::join(scene.base()).spin();
    until("all know all", || [&a, &b, &c].iter().all(|one| one.known().len() == 2));
    for _ in 0..200 {
        for one in [&a, &b, &c] {
            one.publish(PATIENCE).unwrap();
        }
    }
    for one in [&a, &b, &c] {
        until("everything arrives", || one.known().values().all(|from| from.next == 201));
        one.is_fine();
    }
}

#[test]
fn truncated_and_garbage_files_are_removed_and_disturb_nobody() {
    let scene = Scene::new();
    undisturbed(&scene, |directory| {
        let noise: Vec<u8> = (0..70_000u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
        for length in [0, 1, 7, 63, 64, 65, 4095, 4096, 70_000] {
            give(&directory.join(format!("{:016x}.control", 1000 + length)), &noise[..length]);
            give(&directory.join(format!("{:016x}.bells", 2000 + length)), &noise[..length]);
            give(&directory.join(format!("{:016x}.data.{length:x}", 3000 + length)), &noise[..length]);
        }
        // Names that belong to no participant.
        give(&directory.join("README"), &noise);
        give(&directory.join("xyz.control"), &noise);
        std::fs::create_dir(directory.join("00000000000000ff.control")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", directory.join("00000000000000fe.control")).unwrap();
    });
    let mut controls = scene.files();
    controls.retain(|name| name.ends_with(".control") && !name.starts_with("00000000000000f"));
    assert_eq!(controls, ["xyz.control"]);
    assert!(scene.base().join("0/README").exists());
}

/// Copies of a real control segment, each with one word of its header changed. Those whose owner is
/// dead are removed; those whose owner seems to live are ignored.
#[test]
fn a_segment_of_another_version_is_refused_and_disturbs_nobody() {
    let scene = Scene::new();
    let domain = Domain::open(Some(scene.base()), 0).unwrap();
    let real = Participant::join(&domain, std::sync::Arc::new(Observed::default())).unwrap();
    let name = scene.files().into_iter().find(|name| name.ends_with(".control")).unwrap();
    let original = std::fs::read(scene.base().join("0").join(name)).unwrap();
    drop(real);
    let mut locked = Vec::new();
    undisturbed(&scene, |directory| {
        // Of another version, there is only a living one: while it lives, dead ones are left alone.
        for word in 0..8usize {
            let mut copy = original.clone();
            copy[word * 8 + 4] ^= 0x5a;
            let (dead, alive) = (0xd000 + word as u64, 0xa000 + word as u64);
            copy[24..32].copy_from_slice(&dead.to_le_bytes());
            if word != 1 {
                give(&directory.join(format!("{dead:016x}.control")), &copy);
            }
            copy[24..32].copy_from_slice(&alive.to_le_bytes());
            copy[word * 8 + 4] ^= if word == 3 { 0x5a } else { 0 };
            let path = directory.join("unnamed");
            give(&path, &copy);
            locked.push(lock(&path));
            std::fs::rename(&path, directory.join(format!("{alive:016x}.control"))).unwrap();
        }
    });
    let dead = scene.files().into_iter().filter(|name| name.starts_with("000000000000d0")).count();
    assert_eq!(dead, 0, "{:?}", scene.files());
}

#[test]
fn what_a_dead_one_of_another_version_left_stays_while_others_of_that_version_live() {
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let mut segment = vec![0; 4096];
    segment[..8].copy_from_slice(b"SINEWSHM");
    segment[8..16].copy_from_slice(&(77u64 << 32 | 1).to_le_bytes());
    let path = |id: u64, kind: &str| scene.base().join(format!("0/{id:016x}.{kind}"));
    let unnamed = scene.base().join("0/unnamed");
    give(&unnamed, &segment);
    let alive = lock(&unnamed);
    std::fs::rename(&unnamed, path(0xab, "control")).unwrap();
    give(&path(0xac, "data.1"), &segment);
    give(&unnamed, &segment);
    std::fs::rename(&unnamed, path(0xac, "control")).unwrap(); // in one step: a partial one is garbage
    station.participant.refresh();
    let mut snapshot = Snapshot::take(station.participant.domain()).unwrap();
    snapshot.clean().unwrap();
    assert!(snapshot.remains().iter().any(|remains| remains.id == 0xac && remains.is_read));
    std::thread::sleep(Duration::from_millis(50));
    assert!(path(0xac, "data.1").exists() && path(0xac, "control").exists());
    // A participant that joins finds both.
    let other = Station::join(scene.base()).spin();
    assert!(path(0xac, "data.1").exists() && path(0xac, "control").exists());
    drop(alive);
    let last = Station::join(scene.base());
    until("both go", || [0xab, 0xac].iter().all(|&id| !path(id, "control").exists()));
    assert!(!path(0xac, "data.1").exists());
    drop((station, other, last));
    assert_eq!(scene.files(), Vec::<String>::new());
}

/// A directory on a disk, with files from before the machine was started.
#[test]
fn what_another_start_of_the_machine_left_is_removed_and_known_to_nobody() {
    let scene = Scene::new();
    let old = Station::join(scene.base());
    let name = |of: &Station, kind: &str| scene.base().join(format!("0/{:016x}.{kind}", of.id()));
    let (mut control, bells) =
        ["control", "bells"].map(|kind| std::fs::read(name(&old, kind)).unwrap()).into();
    let paths = ["control", "bells"].map(|kind| name(&old, kind));
    drop(old);
    control[32] ^= 1; // the boot id
    give(&paths[0], &control);
    give(&paths[1], &bells);
    let new = Station::join(scene.base()).spin();
    until("it goes", || !paths.iter().any(|path| path.exists()));
    assert_eq!(new.observed.appeared.load(std::sync::atomic::Ordering::SeqCst), 0, "its subscription");
    // From another machine that shares the directory: its owner may live.
    let path = scene.base().join("0/unnamed");
    give(&path, &control);
    let lock = lock(&path);
    std::fs::rename(&path, &paths[0]).unwrap();
    new.participant.refresh();
    std::thread::sleep(Duration::from_millis(50));
    assert!(paths[0].exists());
    let snapshot = Snapshot::take(new.participant.domain()).unwrap();
    assert!(
        snapshot.refused()[0].to_string().contains("before the machine was last started"),
        "{:?}",
        snapshot.refused()
    );
    assert_eq!(new.observed.appeared.load(std::sync::atomic::Ordering::SeqCst), 0, "its subscription");
    drop(lock);
    until("it goes", || !paths[0].exists());
    new.is_fine();
}

/// Makes this file's owner seem alive.
fn lock(path: &Path) -> std::fs::File {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    // SAFETY: all zeros is a valid `flock`.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as i16;
    lock.l_len = 1;
    use std::os::fd::AsRawFd;
    // SAFETY: a valid descriptor and a valid `flock` for the duration of the call.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut lock) }, 0);
    file
}

#[test]
fn a_file_without_an_owner_goes_when_the_participants_notice() {
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let path = scene.base().join("0/00000000000000aa.control");
    give(&path, b"not yet, not ever");
    until("it goes", || !path.exists());
    // A segment of another version that seems alive is left alone until it is dead.
    let mut segment = vec![0; 4096];
    segment[..8].copy_from_slice(b"SINEWSHM");
    segment[8..16].copy_from_slice(&(77u64 << 32 | 1).to_le_bytes());
    let path = scene.base().join("0/unnamed");
    give(&path, &segment);
    let file = lock(&path);
    let control = scene.base().join("0/00000000000000ab.control");
    std::fs::rename(&path, &control).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(control.exists());
    drop(file);
    until("it goes", || !control.exists());
    drop(station);
    assert_eq!(scene.files(), Vec::<String>::new());
}

#[test]
fn a_directory_that_cannot_be_used_is_an_error_that_says_why() {
    let scene = Scene::new();
    let message = |path: &Path| Domain::open(Some(path), 0).unwrap_err().to_string();
    let file = scene.base().join("file");
    give(&file, b"");
    assert!(message(&file).contains("is not a directory"), "{}", message(&file));
    let open = scene.base().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    assert!(message(&open).contains("has mode 777"), "{}", message(&open));
    let none = scene.base().join("none/below");
    assert!(message(&none).contains("mkdir"), "{}", message(&none));
}

/// Longer than the time until all locks are queried without a sign.
const SWEPT: Duration = Duration::from_millis(2500);

/// Two participants that know each other; the second one keeps its first messages, while the first
/// one publishes in chunks.
struct Keeping {
    writing: One,
    reading: One,
    writer: Writer,
    incoming: Incoming,
    kept: Vec<Hold>,
}

impl Keeping {
    fn new(scene: &Scene) -> Self {
        let (writing, reading) = (One::join(scene), One::join(scene));
        let source =
            writing.participant.advertise(&endpoint(EndpointKind::Publisher, "/kept"), None).unwrap();
        let mut writer = Writer::new(Arc::new(source), 4, 0, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth: 4, capacity: None };
        writer.connect(&writing.peer(&reading), &connect).unwrap();
        let incoming = reading.incoming(&writer);
        let mut all = Self { writing, reading, writer, incoming, kept: Vec::new() };
        for byte in 0..5 {
            let hold = all.pass_on(byte);
            all.kept.push(hold);
        }
        all
    }

    fn pass_on(&mut self, byte: u8) -> Hold {
        let number = self.writer.next();
        let mut loan = self.writer.lender().loan(1000).unwrap();
        loan.bytes_mut().fill(byte);
        self.writer.publish_lent(number, &Head::default(), loan.share());
        let message = self.incoming.read(&mut Vec::new()).unwrap().unwrap();
        assert_eq!((message.number, message.missed), (number, 0));
        message.hold.unwrap()
    }

    /// Messages continue, and the kept ones stay unchanged, until everything was checked again.
    fn goes_on(&mut self) {
        let begin = std::time::Instant::now();
        while begin.elapsed() < SWEPT {
            let hold = self.pass_on(99);
            assert!(hold.bytes().iter().all(|&byte| byte == 99));
            drop(hold);
            self.is_unchanged();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[track_caller]
    fn is_unchanged(&self) {
        for (byte, hold) in (0u8..).zip(&self.kept) {
            assert!(hold.bytes().iter().all(|&found| found == byte), "message {byte} has changed");
        }
    }
}

#[test]
fn what_a_reader_holds_stays_when_its_control_segment_loses_its_name() {
    let scene = Scene::new();
    let mut all = Keeping::new(&scene);
    let name = |of: &One| scene.base().join(format!("0/{:016x}.control", of.participant.id()));
    std::fs::remove_file(name(&all.reading)).unwrap();
    all.goes_on();
    // Another participant joins: one that it can't find doesn't look for it either.
    let new = One::join(&scene);
    assert!(new.knows(&all.writing) && all.writing.knows(&new));
    all.goes_on();
    assert!(!new.has_met(&all.reading) && !all.reading.has_met(&new));
    // Its end is noticed all the same.
    let Keeping { writing, reading, incoming, kept, writer } = all;
    let id = reading.participant.id();
    drop((kept, incoming));
    reading.participant.leave();
    writing.has_seen_leave(id);
    drop((writer, writing, reading, new));
    assert_eq!(scene.files(), Vec::<String>::new());
}

#[test]
fn the_death_of_one_whose_control_segment_lost_its_name_is_noticed() {
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let mut child = scene.child("talks", "0 0");
    until("they know each other", || station.known().len() == 1);
    let (id, _) = *station.known().keys().next().unwrap();
    std::fs::remove_file(scene.base().join(format!("0/{id:016x}.control"))).unwrap();
    child.kill();
    until("it is noticed", || station.observed.left.load(std::sync::atomic::Ordering::SeqCst) == 1);
    station.is_fine();
}

#[test]
fn a_domain_whose_directory_is_removed_is_an_error_and_no_crash() {
    let scene = Scene::new();
    let (a, b) = (Station::join(scene.base()).spin(), Station::join(scene.base()).spin());
    until("both know each other", || a.known().len() == 1 && b.known().len() == 1);
    let talk = || {
        for (reader, writer) in [(&a, &b), (&b, &a)] {
            for _ in 0..30 {
                writer.publish(PATIENCE).unwrap();
            }
            let next = writer.with_writer(|writer| writer.next());
            until("it arrives", || reader.progress(writer.id()).is_some_and(|from| from.next == next));
            reader.is_fine();
        }
    };
    talk(); // everything that they need exists
    std::fs::remove_dir_all(scene.base().join("0")).unwrap();
    // Participants that know each other continue with what is mapped.
    talk();
    std::thread::sleep(SWEPT);
    talk();
    let class = 1 << 20;
    let refused = a.with_writer(|writer| writer.lender().loan(class)).unwrap_err();
    assert!(refused.to_string().contains("failed"), "{refused}");
}

#[test]
fn what_is_held_stays_when_the_directory_is_removed_and_others_meet_in_a_new_one() {
    let scene = Scene::new();
    let mut keeping = Keeping::new(&scene);
    std::fs::remove_dir_all(scene.base().join("0")).unwrap();
    keeping.goes_on();
    // Later participants meet in a new directory, and meet none of the old ones.
    let new = [One::join(&scene), One::join(&scene)];
    assert!(new[0].knows(&new[1]));
    keeping.goes_on();
    for new in &new {
        assert!(!new.has_met(&keeping.reading) && !keeping.reading.has_met(new));
        assert!(!new.has_met(&keeping.writing) && !keeping.writing.has_met(new));
    }
}

#[test]
fn what_is_asked_for_beyond_every_limit_is_an_error() {
    let scene = Scene::new();
    let station = Station::join(scene.base());
    station.with_writer(|writer| {
        for length in [usize::MAX, usize::MAX / 2, (1 << 44) + 1] {
            assert!(matches!(writer.lender().loan(length), Err(CapacityError::Length { .. })));
        }
        // More than any file system has, but a valid number.
        assert!(writer.lender().loan(1 << 43).is_err());
        assert!(matches!(writer.grow(usize::MAX), Err(CapacityError::Depth { .. })));
        assert!(writer.lender().loan(1000).is_ok());
    });
}

/// Joins a directory by a relative name, and changes its working directory.
pub(crate) fn change_directory(part: &Part) {
    std::env::set_current_dir(part.directory.parent().unwrap()).unwrap();
    let relative = Path::new(part.directory.file_name().unwrap());
    let station = Station::join(relative).spin();
    let found = Domain::find(Some(relative), 0).unwrap().unwrap();
    assert!(found.path().is_absolute() && found == *station.participant.domain());
    std::env::set_current_dir("/").unwrap();
    part.say("moved");
    until("others are found", || station.known().len() == 1);
    station.with_writer(|writer| writer.lender().loan(1 << 20).map(drop)).unwrap();
    station.publish(PATIENCE).unwrap();
    part.say("fine");
    drop(station);
    std::process::exit(0);
}

#[test]
fn a_participant_that_joins_by_a_relative_name_may_change_the_working_directory() {
    let scene = Scene::new();
    let mut child = scene.child("moves", "");
    child.says("moved");
    let station = Station::join(scene.base()).spin();
    child.says("fine");
    assert!(child.wait().success());
    drop(station);
    assert_eq!(scene.files(), Vec::<String>::new());
}

#[test]
fn names_of_others_steer_no_terminal() {
    let scene = Scene::new();
    let one = One::join(&scene);
    let about = Endpoint {
        node: "/no\u{9b}d\u{202e}\u{200b}e".into(),
        type_name: "a/msg/\r\u{7f}".into(),
        ..endpoint(EndpointKind::Publisher, "/red\u{1b}[31m\nü")
    };
    let _theirs = one.participant.advertise(&about, None).unwrap();
    let snapshot = Snapshot::take(one.participant.domain()).unwrap();
    let found = snapshot.peers()[0].endpoints();
    let (_, found) = found.iter().find(|(_, endpoint)| endpoint.kind == EndpointKind::Publisher).unwrap();
    assert_eq!(found.node, "/no\u{fffd}d\u{fffd}\u{fffd}e");
    assert_eq!(found.name, "/red\u{fffd}[31m\u{fffd}ü");
    assert_eq!(found.type_name, "a/msg/\u{fffd}\u{fffd}");
}
