//! Children die at named instructions and at arbitrary ones; the survivors continue, miss no
//! published message, and clean up.

use crate::process::{Part, Process, Scene};
use crate::station::{Observed, Station, until};
use sinew_shm::failpoints::{self, Point};
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(180);

/// Number of messages of a child that isn't killed.
const MESSAGES: u64 = 150;

/// Publishes and reads until it dies, or for a given time. Words: a point's number or 0, and the
/// passage at which the child dies there; a third one if it may miss messages of others.
pub(crate) fn talk(part: &Part) {
    let numbers: Vec<u64> = part.words.iter().map(|word| word.parse().unwrap()).collect();
    let point = Point::ALL.into_iter().find(|&point| point as u64 == numbers[0]);
    if let Some(point) = point {
        failpoints::arm(point, numbers[1]);
    }
    let observed = Observed::default();
    observed.expects_errors.store(numbers.len() > 2, Ordering::SeqCst);
    let station = Station::join_as(&part.directory, observed).spin();
    part.say(&format!("id {}", station.id()));
    let mut idle = Vec::new();
    let is_growth = matches!(point, Some(Point::EventsCopied | Point::EventsPublished));
    for count in 1..=if is_growth { 8 * MESSAGES } else { MESSAGES } {
        let number = station.publish(PATIENCE).expect("the others read");
        part.say(&format!("published {number}"));
        if count.is_multiple_of(40) {
            station.with_writer(|writer| writer.grow((writer.depth() * 2).min(128))).unwrap();
        }
        if point == Some(Point::Withdrawn) {
            station.with_writer(|writer| writer.let_go());
        }
        if count == 20 && point == Some(Point::LessDeclared) {
            lend_large(&station);
        }
        if is_growth
            && count > 20
            && idle.len() < 70
            && let Some(reader) = station.readers().pop()
        {
            idle.push(station.idle_writer(&reader).unwrap());
        }
        station.is_fine();
    }
    // Those that are to be killed from outside wait for that; the others say goodbye.
    while point.is_none() {
        if station.publish(PATIENCE).is_none() {
            panic!("the others don't read");
        }
        part.say(&format!("published {}", station.with_writer(|writer| writer.next() - 1)));
        station.is_fine();
    }
    drop(idle);
    station.is_fine();
    drop(station);
    std::process::exit(0);
}

/// Lends a large chunk, which goes back to the file system because no publisher has room for an
/// even larger one.
fn lend_large(station: &Station) {
    let Some(reader) = station.readers().pop() else { return };
    let lender = station.idle_writer(&reader).unwrap().lender();
    drop(lender.loan(100_000).unwrap());
    lender.loan(1 << 43).unwrap_err();
}

/// Two participants that survive.
struct Survivors {
    scene: Scene,
    stations: [Arc<Station>; 2],
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Survivors {
    fn new() -> Self {
        let scene = Scene::new();
        let stations = [0, 1].map(|_| Arc::new(Station::join(scene.base()).spin()));
        let stop = Arc::new(AtomicBool::new(false));
        let threads = stations.iter().map(|station| {
            let (station, stop) = (station.clone(), stop.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    station.publish(PATIENCE).expect("nobody holds a publisher up for ever");
                    std::thread::sleep(Duration::from_micros(300));
                }
            })
        });
        let threads = threads.collect();
        Self { scene, stations, stop, threads }
    }

    /// The files of the dead children.
    fn leftovers(&self) -> Vec<String> {
        self.of_the_dead(self.scene.files())
    }

    /// The files of dead children that this process still has mapped.
    fn mapped(&self) -> Vec<String> {
        let mut mapped = self.of_the_dead(self.scene.mapped());
        mapped.retain(|file| !file.starts_with('#')); // files without a name are our own
        mapped
    }

    fn of_the_dead(&self, mut files: Vec<String>) -> Vec<String> {
        let own = [0, 1].map(|index: usize| format!("{:016x}", self.stations[index].id()));
        files.retain(|file| !own.iter().any(|own| file.starts_with(own)));
        files
    }

    /// Checks, after a child's death, that all its messages were read, and that nothing is left of
    /// it.
    fn after_death(&self, report: &[String], what: &str) {
        until(&format!("{what}: nothing is left"), || {
            assert!(self.threads.iter().all(|thread| !thread.is_finished()), "{what}: a publisher is stuck");
            self.leftovers().is_empty()
        });
        let word = |beginning: &str| -> Option<u64> {
            report
                .iter()
                .rev()
                .find_map(|line| line.strip_prefix(beginning))
                .map(|number| number.parse().unwrap())
        };
        for station in &self.stations {
            station.is_fine();
            let (Some(id), published) = (word("id "), word("published ").unwrap_or(0)) else { continue };
            until(&format!("{what}: it is noticed"), || {
                station.progress(id).is_none_or(|progress| progress.is_over)
            });
            let read = station.progress(id).map_or(0, |progress| progress.next - 1);
            assert!(
                read == published || read == published + 1,
                "{what}: {published} messages were published, {read} read, {:?}",
                station.progress(id)
            );
            station.forget_progress(id);
        }
    }

    /// Runs one child until it ends. Returns `true` if it was killed, and `false` if it said
    /// goodbye.
    fn round(&self, point: Option<Point>, passage: u64) -> bool {
        let mut child = Doomed::start(&self.scene, point, passage);
        if point.is_none() {
            child.process.says("id ");
            std::thread::sleep(Duration::from_micros(passage));
            child.process.kill();
        }
        let status = child.end();
        self.after_death(&child.process.report(), &child.what);
        status.signal().is_some()
    }

    /// Runs several children at once, which also read each other. Some stop for a while, and some
    /// of those are killed meanwhile: before they are known, in the middle of a message, or while
    /// others wait for them.
    fn crowd(&self, dice: &mut Dice) {
        let mut children: Vec<_> = (0..2 + dice.below(3))
            .map(|_| {
                let named = Point::ALL[dice.below(Point::ALL.len() as u64) as usize];
                let point = (dice.below(3) == 0).then_some(named);
                Doomed::start(&self.scene, point, 1 + dice.below(30))
            })
            .collect();
        for child in children.iter_mut().filter(|child| child.point.is_none()) {
            std::thread::sleep(Duration::from_micros(dice.below(20_000)));
            for _ in 0..dice.below(3) {
                child.process.stop();
                std::thread::sleep(Duration::from_micros(dice.below(20_000)));
                if dice.below(3) == 0 {
                    break;
                }
                child.process.signal(libc::SIGCONT);
            }
            child.process.kill();
        }
        for child in &mut children {
            child.end();
        }
        for child in &children {
            self.after_death(&child.process.report(), &child.what);
        }
    }

    fn finish(mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
        let [a, b] = &self.stations;
        let published = [a, b].map(|station| station.with_writer(|writer| writer.next()));
        for (reader, writer, next) in [(a, b, published[1]), (b, a, published[0])] {
            until("the survivors got everything", || {
                reader.progress(writer.id()).is_some_and(|progress| progress.next == next)
            });
            reader.is_fine();
        }
        let Self { scene, stations, .. } = self;
        drop(stations);
        assert_eq!(scene.files(), Vec::<String>::new());
        until("nothing is mapped any more", || scene.mapped().is_empty());
    }
}

/// A child that dies at a point, or is killed.
struct Doomed {
    process: Process,
    point: Option<Point>,
    what: String,
}

impl Doomed {
    fn start(scene: &Scene, point: Option<Point>, passage: u64) -> Self {
        let words = format!("{} {passage}", point.map_or(0, |point| point as u64));
        let what = format!("{point:?}, passage {passage}");
        Self { process: scene.child("talks", &words), point, what }
    }

    /// Waits until the child has died, or said goodbye.
    fn end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.process.has_ended() {
                break status;
            }
            let (what, report) = (&self.what, self.process.report());
            assert!(begin.elapsed() < 3 * PATIENCE, "{what}: it neither ends nor dies: {:?}", report.last());
            std::thread::sleep(Duration::from_millis(1));
        };
        let has_died = status.signal() == Some(libc::SIGKILL);
        let (what, report) = (&self.what, self.process.report());
        assert!(status.success() || has_died, "{what}: {status} {:?}", report.last());
        status
    }
}

/// Pseudo-random numbers, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn children_die_at_every_named_instruction_and_the_others_go_on() {
    let survivors = Survivors::new();
    let mut dice = Dice(1);
    let mut killed = HashSet::new();
    let mut usage = 0;
    let mut wanted = Point::ALL.to_vec();
    let mut round = 0;
    // Some points are passed only if the others are quick enough: those are tried again.
    while round < 2 || round < 300 && !wanted.is_empty() {
        for point in std::mem::take(&mut wanted) {
            // An event ring is outgrown once.
            let is_rare = matches!(point, Point::EventsCopied | Point::EventsPublished);
            let passage = if round != 1 || is_rare { 1 } else { 2 + dice.below(12) };
            if survivors.round(Some(point), passage) {
                killed.insert(point as u64);
            }
        }
        if round == 0 {
            usage = survivors.scene.usage();
        }
        // The survivors do the reaping, so the child seldom gets to it.
        let is_wanted = |point: &Point| {
            round == 0 || !killed.contains(&(*point as u64)) && *point != Point::ReapedControl
        };
        wanted.extend(Point::ALL.into_iter().filter(is_wanted));
        round += 1;
    }
    let grown = survivors.scene.usage().saturating_sub(usage);
    assert!(grown <= 128 << 10, "{grown} bytes more after {} more deaths", Point::ALL.len());
    assert_eq!(wanted, [], "points at which no child died");
    survivors.finish();
}

#[test]
fn children_die_at_any_instruction_and_the_others_go_on() {
    let kills = std::env::var("SINEW_KILLS").ok().map_or(12, |kills| kills.parse().unwrap());
    let survivors = Survivors::new();
    let mut dice = Dice(2);
    let mut usage = Vec::new();
    for number in 0..kills {
        if number % 4 == 3 {
            let point = Point::ALL[dice.below(Point::ALL.len() as u64) as usize];
            survivors.round(Some(point), 1 + dice.below(30));
        } else if number % 4 == 2 {
            survivors.crowd(&mut dice);
        } else {
            survivors.round(None, dice.below(30_000));
        }
        if number % 100 == 99 {
            usage.push(survivors.scene.usage());
        }
    }
    println!("bytes in use, every 100 deaths: {usage:?}");
    if let (Some(&early), Some(&late)) = (usage.get(1), usage.last()) {
        assert!(late <= early + (64 << 10), "bytes in use, every 100 deaths: {usage:?}");
    }
    let mapped = survivors.mapped();
    assert!(mapped.len() < 100, "still mapped of those who died: {mapped:?}"); // of the last few at most
    survivors.finish();
}

/// Each message is the last one for a while: no arrival or departure makes its reader miss it.
#[test]
fn a_lone_message_arrives_while_others_come_and_go() {
    let rounds = std::env::var("SINEW_KILLS").ok().map_or(300, |kills| kills.parse().unwrap());
    let scene = Scene::new();
    let [a, b] = [0, 1].map(|_| Station::join(scene.base()).spin());
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let base = scene.base();
        let come_and_go = move || {
            while !stop.load(Ordering::SeqCst) {
                let visitor = Station::join(base).spin();
                visitor.publish(PATIENCE).expect("the others read");
                visitor.is_fine();
            }
        };
        scope.spawn(come_and_go);
        for _ in 0..rounds {
            for (writer, reader) in [(&a, &b), (&b, &a)] {
                let number = writer.publish(PATIENCE).expect("the other one reads");
                until("it arrives", || {
                    reader.progress(writer.id()).is_some_and(|from| from.next == number + 1)
                });
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    a.is_fine();
    b.is_fine();
    drop([a, b]);
    until("nothing is mapped any more", || scene.mapped().is_empty());
}

/// A participant dies while it reaps a dead one, and is reaped in turn.
#[test]
fn a_reaper_dies_and_is_reaped() {
    let scene = Scene::new();
    let mut first = scene.child("talks", "0 0");
    first.says("published 5");
    first.kill();
    assert!(!scene.files().is_empty());
    let mut second = scene.child("talks", &format!("{} 1", Point::ReapedControl as u64));
    assert_eq!(second.wait().signal(), Some(libc::SIGKILL));
    let station = Station::join(scene.base()).spin();
    until("nothing is left", || {
        scene.files().iter().all(|file| file.starts_with(&format!("{:016x}", station.id())))
    });
    drop(station);
    assert_eq!(scene.files(), Vec::<String>::new());
}
