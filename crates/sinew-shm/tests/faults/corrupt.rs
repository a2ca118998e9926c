//! A peer that writes nonsense into its own memory, word by word, while others read it: they
//! neither crash nor hang.

use crate::limits::{has_namespaces, on_a_small_file_system};
use crate::process::{Part, Scene};
use crate::station::{Station, until};
use sinew_shm::Counter;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const PAGE: usize = 4096;

/// Addresses of the pages of this process that are mapped for writing from its participant's files
/// of this kind, and present in memory.
fn own_pages(directory: &Path, id: u64, kind: &str) -> Vec<usize> {
    let entries = std::fs::read_dir(directory.join("0")).unwrap().map(Result::unwrap);
    let begins = format!("{id:016x}.{kind}");
    let ours = entries.filter(|entry| entry.file_name().to_str().unwrap().starts_with(&begins));
    // By number, because the mappings' names are from before the files were linked.
    let files: Vec<String> = ours.map(|entry| entry.metadata().unwrap().ino().to_string()).collect();
    let is_ours = |line: &str| {
        line.contains("rw-s")
            && line.split_whitespace().nth(4).is_some_and(|number| files.iter().any(|file| file == number))
    };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut pages = Vec::new();
    for line in maps.lines().filter(|line| is_ours(line)) {
        let (begin, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let [begin, end] = [begin, end].map(|number| usize::from_str_radix(number, 16).unwrap());
        let mut there = vec![0u8; (end - begin) / PAGE];
        // SAFETY: a mapping of this process, and a vector with a byte for each of its pages.
        let result = unsafe { libc::mincore(begin as *mut _, end - begin, there.as_mut_ptr()) };
        assert_eq!(result, 0);
        let first = pages.len();
        pages.extend((0..there.len()).filter(|&page| there[page] & 1 == 1).map(|page| begin + page * PAGE));
        assert!(pages.len() > first, "{line}");
    }
    assert!(!pages.is_empty(), "none of {files:?} in {maps}");
    pages
}

/// Communicates for a while, then writes nonsense into its own segments. Words: a seed, and the
/// kind of nonsense.
pub(crate) fn scribble(part: &Part) {
    let mut seed: u64 = part.words[0].parse().unwrap();
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let station = Station::join(&part.directory).spin();
    for _ in 0..20 {
        station.publish(PATIENCE).unwrap();
    }
    let word = word_of;
    if part.words[1] == "moved" {
        // Every ring claims to have moved, and its last known location has none. (Eight words are
        // the file's header; 6 is the first word of an event ring: that one exists, but claims to
        // have moved.)
        for page in own_pages(&part.directory, station.id(), "data.") {
            (8..PAGE / 8)
                .map(|index| word(page, index))
                .filter(|word| word.load(Ordering::Relaxed) != 6)
                .for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
        }
        std::panic::set_hook(Box::new(|_| {})); // what happens to this process itself doesn't matter
        part.say("scribbles");
        std::thread::sleep(Duration::from_secs(60));
    }
    let pages = own_pages(&part.directory, station.id(), "");
    std::panic::set_hook(Box::new(|_| {})); // as above
    part.say("scribbles");
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        for _ in 0..random() % 200 {
            // More often in the pages of the headers, where most of the meaning is.
            let page = if random() % 3 == 0 { pages[0] } else { pages[random() as usize % pages.len()] };
            let place = word(page, random() as usize);
            let old = place.load(Ordering::Relaxed);
            let value = match random() % 9 {
                0 => random(),
                1 => random() % 100,
                2 => u64::MAX - random() % 3,
                3 => old.wrapping_add(1),
                4 => old.wrapping_sub(1),
                5 => old ^ 1 << (random() % 64),
                6 => word(page, random() as usize).load(Ordering::Relaxed),
                7 => old.wrapping_add(2),
                _ => 0,
            };
            place.store(value, Ordering::Relaxed);
        }
        std::thread::sleep(Duration::from_micros(random() % 2000));
    }
    std::process::exit(0);
}

/// A word of a page that this process has mapped for writing.
fn word_of(page: usize, index: usize) -> &'static AtomicU64 {
    let address = (page + index % (PAGE / 8) * 8) as *const AtomicU64;
    // SAFETY: within such a page, aligned; other processes access it as atomics as well. The
    // participant lives as long as this process.
    unsafe { &*address }
}

/// Claims to have reserved all of its files when not a byte is left, while another participant
/// reads what it declares.
pub(crate) fn overstate(part: &Part) {
    let [liar, other] = [0, 1].map(|_| Station::join(&part.directory));
    for observed in [&liar.observed, &other.observed] {
        observed.expects_errors.store(true, Ordering::SeqCst);
        observed.waits_for_nobody.store(true, Ordering::SeqCst);
    }
    until("both know each other", || liar.known().len() == 1 && other.known().len() == 1);
    let peer = other.readers().pop().unwrap();
    let before = peer.endpoints().len();
    let mut rest = std::fs::File::create(part.directory.join("filler")).unwrap();
    while std::io::Write::write(&mut rest, &[1; 4096]).is_ok_and(|written| written > 0) {}
    let control = own_pages(&part.directory, liar.id(), "control")[0];
    (0..8).for_each(|table| word_of(control, 256 / 8 + table).store(u64::MAX, Ordering::SeqCst));
    let begins = u64::from_le_bytes(*b"SINEWSHM");
    for page in own_pages(&part.directory, liar.id(), "data.") {
        if word_of(page, 0).load(Ordering::SeqCst) == begins {
            word_of(page, 48 / 8).store(u64::MAX, Ordering::SeqCst);
        }
    }
    // Its log makes all tables be read.
    word_of(control, 192 / 8).fetch_add(1 << 40, Ordering::SeqCst);
    other.participant.refresh();
    assert!(peer.endpoints().len() <= before);
    part.say("fine");
    std::process::exit(0);
}

#[test]
fn a_peer_that_says_it_has_reserved_more_than_there_is_is_not_believed() {
    if has_namespaces("a small file system") {
        on_a_small_file_system(&Scene::new(), "overstates", "1m");
    }
}

#[test]
fn a_peer_that_writes_nonsense_neither_crashes_nor_hangs_us() {
    let seconds = std::env::var("SINEW_SCRIBBLE").ok().map_or(2, |seconds| seconds.parse().unwrap());
    let scene = Scene::new();
    let (a, b) = (Station::join(scene.base()).spin(), Station::join(scene.base()).spin());
    until("both know each other", || a.known().len() == 1 && b.known().len() == 1);
    for observed in [&a.observed, &b.observed] {
        observed.expects_errors.store(true, Ordering::SeqCst);
        observed.waits_for_nobody.store(true, Ordering::SeqCst);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seed = 1;
    while Instant::now() < end {
        let mut child =
            scene.child("scribbles", &format!("{seed} {}", if seed % 4 == 1 { "moved" } else { "random" }));
        child.says("scribbles");
        let until = Instant::now() + Duration::from_millis(300);
        while Instant::now() < until {
            a.publish(PATIENCE).expect("the other one reads");
            b.publish(PATIENCE).expect("the other one reads");
            a.participant.refresh();
            for peer in a.readers() {
                let _ = (peer.program(), peer.pid(), peer.started());
                for (key, _) in peer.endpoints() {
                    let _ = peer.counts(key).map(|counts| counts.get(Counter::Messages));
                }
            }
        }
        child.kill();
        crate::station::until("its files are removed", || {
            scene
                .files()
                .iter()
                .all(|file| [&a, &b].iter().any(|own| file.starts_with(&format!("{:016x}", own.id()))))
        });
        seed += 1;
    }
    for (reader, writer) in [(&a, &b), (&b, &a)] {
        let next = writer.with_writer(|writer| writer.next());
        until("everything else arrived", || {
            reader.progress(writer.id()).is_some_and(|from| from.next == next)
        });
        reader.is_fine();
    }
}
