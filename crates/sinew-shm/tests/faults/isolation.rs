//! Other users, other namespaces, forked and stopped processes, and writing to read-only memory.

use crate::limits::{has_namespaces, skip};
use crate::process::{Part, Scene, become_user};
use crate::station::{Observed, Station, endpoint, until};
use crate::users::can_be_others;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Writes through a reader's mapping of another participant's control segment.
pub(crate) fn write(part: &Part) {
    let station = Station::join(&part.directory);
    let other = station.readers().pop().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains(&format!("{:016x}.control", other.id()))).unwrap();
    assert!(line.contains(" r--s "), "{line}");
    let begin = usize::from_str_radix(line.split('-').next().unwrap(), 16).unwrap();
    part.say("writes");
    // SAFETY: none is needed: this process dies of it.
    unsafe { std::ptr::without_provenance_mut::<u64>(begin + 64).write_volatile(1) };
    part.say("survived");
}

#[test]
fn a_write_through_a_readers_mapping_is_a_fault() {
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let mut child = scene.child("writes", "");
    assert_eq!(child.wait().signal(), Some(libc::SIGSEGV));
    assert_eq!(child.report(), ["writes"]);
    until("nothing is left", || {
        scene.files().iter().all(|file| file.starts_with(&format!("{:016x}", station.id())))
    });
    station.is_fine();
}

/// Becomes a user without rights. Words: whether the directory is shared with all users.
pub(crate) fn stranger(part: &Part) {
    become_user(65534, 65534);
    let open = |writable: bool, name: &str| {
        let path = part.directory.join("0").join(name);
        std::fs::OpenOptions::new().read(true).write(writable).open(path).map_err(|error| error.kind())
    };
    let (control, bells) = (&part.words[1], &part.words[2]);
    let refused = std::io::ErrorKind::PermissionDenied;
    assert_eq!(open(true, control).unwrap_err(), refused);
    assert_eq!(open(true, bells).unwrap_err(), refused);
    if part.words[0] == "shared" {
        assert!(open(false, control).is_ok());
        let domain = Domain::open(Some(&part.directory), 0).unwrap();
        let joined = Participant::join(&domain, Arc::new(Observed::default())).unwrap_err().to_string();
        assert!(
            joined.contains("ermission denied") && joined.contains("belongs to another user"),
            "{joined}"
        );
    } else {
        assert_eq!(open(false, control).unwrap_err(), refused);
        let opened = Domain::open(Some(&part.directory), 0).unwrap_err().to_string();
        assert!(opened.contains("ermission denied"), "{opened}");
    }
    // The user can't open even its own files for writing: only the descriptor of their creation can
    // write.
    let own = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::set_permissions(own.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let domain = Domain::open(Some(own.path()), 0).unwrap();
    let participant = Participant::join(&domain, Arc::new(Observed::default())).unwrap();
    let path = domain.path().join(format!("{:016x}.control", participant.id()));
    let error = std::fs::OpenOptions::new().write(true).open(&path).unwrap_err();
    assert_eq!(error.kind(), refused);
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o400);
    drop((participant, own));
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn another_user_can_neither_write_nor_without_rights_read() {
    if !can_be_others() {
        return;
    }
    for (word, mode) in [("private", 0o700), ("shared", 0o755)] {
        let scene = Scene::new();
        std::fs::set_permissions(scene.base(), PermissionsExt::from_mode(mode)).unwrap();
        let station = Station::join(scene.base()).spin();
        let name = |end: &str| scene.files().into_iter().find(|file| file.ends_with(end)).unwrap();
        let words = format!("{word} {} {}", name(".control"), name(".bells"));
        let mut child = scene.child("is another user", &words);
        assert!(child.wait().success(), "{:?}", child.report());
        assert_eq!(child.report(), ["fine"]);
        station.is_fine();
    }
}

/// Makes the kernel refuse all advice about memory to this thread and those that it starts.
fn refuse_advice() -> bool {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let jump = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0), // the number of the system call
        libc::sock_filter { jf: 1, ..statement(jump, u32::try_from(libc::SYS_madvise).unwrap()) },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EINVAL.cast_unsigned()),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: a program of four statements, which lives as long as the call.
    unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0 }
}

/// Whether a child has the memory that the kernel claims to wipe there, as with qemu's user mode
/// before version 8.
fn is_advice_a_lie() -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice overlays nothing.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0) };
    // SAFETY: mapped just now with this length.
    if page == libc::MAP_FAILED || unsafe { libc::madvise(page, 4096, libc::MADV_WIPEONFORK) } != 0 {
        return false;
    }
    // SAFETY: mapped just now for writing, and aligned.
    unsafe { page.cast::<u8>().write(1) };
    // SAFETY: the child reads a byte and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        let byte = unsafe { page.cast::<u8>().read() };
        // SAFETY: no exit handler of the parent may run in this child.
        unsafe { libc::_exit(i32::from(byte)) };
    }
    let mut status = 0;
    // SAFETY: a valid status for the duration of the call.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    libc::WEXITSTATUS(status) != 0
}

/// Forks; the child tries everything, and survives.
pub(crate) fn fork(part: &Part) {
    if is_advice_a_lie() {
        return part.say("can't: this kernel says that it wipes what children have, and doesn't");
    }
    if !part.words.is_empty() && !refuse_advice() {
        return part.say("can't: there is no seccomp");
    }
    let station = Station::join(&part.directory);
    let mut loan = station.with_writer(|writer| writer.lender().loan(1000)).unwrap();
    loan.bytes_mut().fill(3);
    station.publish(PATIENCE).unwrap();
    // SAFETY: this process has one other thread, the participant's helper, which the child lacks;
    // the attempts take no locks that it may hold at this moment.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let forked = |result: Result<(), CapacityError>| {
            assert!(matches!(result, Err(CapacityError::Left { forked: true })), "{result:?}");
        };
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = format!("/{:016x}.", station.id());
        assert!(!maps.lines().any(|line| line.contains(&own)), "{maps}");
        forked(station.participant.check());
        assert!(station.participant.check().unwrap_err().to_string().contains("forked child"));
        let about = endpoint(EndpointKind::Publisher, "/fork");
        forked(station.participant.advertise(&about, None).map(|_| ()));
        forked(station.participant.port(None).map(|_| ()));
        station.participant.refresh();
        station.drain();
        station.with_writer(|writer| {
            forked(writer.lender().loan(10).map(|_| ()));
            forked(writer.grow(1000));
            writer.publish_inline(writer.next(), &Head::default(), b"not to be seen");
            assert!(writer.wait_for_room().is_none());
        });
        drop(loan);
        drop(station);
        part.say("the child is fine");
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    assert!(child > 0);
    for _ in 0..40 {
        until("the child has done its worst", || part.has_said("the child is fine"));
        station.publish(PATIENCE).unwrap();
    }
    part.say("the parent is fine");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn a_forked_child_gets_errors_removes_nothing_and_does_not_keep_its_parent_alive() {
    forks("");
}

/// As under qemu's user mode, and in some sandboxes.
#[test]
fn a_forked_child_does_no_harm_where_the_kernel_takes_no_advice_about_memory() {
    forks("without advice");
}

fn forks(how: &str) {
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let mut child = scene.child("forks", how);
    until("it is fine, or says why it can't be", || {
        child.report().iter().any(|said| said == "the parent is fine" || said.starts_with("can't"))
    });
    if let Some(why) = child.report().iter().find_map(|said| said.strip_prefix("can't: ")) {
        return skip(&format!("a forked child: {why}"));
    }
    let known = station.known();
    let ((peer, _), _) = known.iter().next().unwrap();
    until("the parent's messages arrive", || station.progress(*peer).is_some_and(|from| from.next == 42));
    child.kill_alone();
    until("its death is noticed", || station.observed.left.load(Ordering::SeqCst) == 1);
    until("nothing is left", || {
        scene.files().iter().all(|file| file.starts_with(&format!("{:016x}", station.id())))
    });
    station.is_fine();
}

#[test]
fn a_stopped_reader_holds_up_those_who_must_wait_for_it_and_nobody_else() {
    let scene = Scene::new();
    let (waits, other) = (Station::join(scene.base()).spin(), Station::join(scene.base()).spin());
    until("both know each other", || waits.known().len() == 1 && other.known().len() == 1);
    other.observed.waits_for_nobody.store(true, Ordering::SeqCst);
    let mut child = scene.child("talks", "0 0 1");
    child.says("published 20");
    child.stop();
    // A place for each message under way, and then no more.
    let count = (0..100).take_while(|_| waits.publish(Duration::from_millis(100)).is_some()).count();
    assert!(count < 100, "back-pressure");
    for _ in 0..500 {
        other.publish(PATIENCE).expect("nobody holds it up");
    }
    let next = other.with_writer(|writer| writer.next());
    until("it arrives", || waits.progress(other.id()).is_some_and(|from| from.next == next));
    child.signal(libc::SIGCONT);
    for _ in 0..100 {
        waits.publish(PATIENCE).expect("it goes on");
    }
    child.stop();
    while waits.publish(Duration::from_millis(100)).is_some() {}
    child.kill();
    waits.publish(PATIENCE).expect("a dead reader holds nobody up");
    waits.is_fine();
    other.is_fine();
}

#[test]
fn containers_with_process_ids_of_their_own_share_a_directory() {
    if !has_namespaces("a PID namespace") {
        return;
    }
    let scene = Scene::new();
    let station = Station::join(scene.base()).spin();
    let container = ["unshare", "-rpf"];
    let mut children = [0, 1].map(|_| scene.child_by("talks", "0 0", &container));
    for child in &mut children {
        child.says("published 100");
        station.publish(PATIENCE).unwrap();
    }
    until("both are received", || {
        station.known().len() == 2 && station.known().values().all(|from| from.next > 100)
    });
    for (gone, child) in children.iter_mut().enumerate() {
        child.kill();
        until("its death is noticed", || station.observed.left.load(Ordering::SeqCst) == gone + 1);
        station.publish(PATIENCE).unwrap();
    }
    until("nothing is left", || {
        scene.files().iter().all(|file| file.starts_with(&format!("{:016x}", station.id())))
    });
    station.is_fine();
}
