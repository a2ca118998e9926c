//! The test's side: it starts, stops and kills the actors.

use crate::actor::{PLACE, SAID, SEAT};
use crate::ledger::WAYS;
use sinew_shm::Domain;
use sinew_shm::raw::Space;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for a test that would otherwise hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// The domain where they meet.
pub(crate) const DOMAIN: u32 = 3;

/// Participants of each process: its context, and its space for queues, topics and variables.
const PARTICIPANTS: usize = 2;

/// Several processes that communicate with each other.
pub(crate) struct Cast {
    base: PathBuf,
    actors: Vec<Actor>,
    /// Number of processes that were ever started.
    started: u64,
    /// The events so far, for people.
    story: Vec<String>,
}

/// One of the processes, killed at the latest when this is dropped.
struct Actor {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
    /// Warnings that it should not have logged.
    warnings: Receiver<String>,
}

#[track_caller]
fn until(what: &dyn Fn() -> String, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{}", what());
        thread::sleep(Duration::from_millis(2));
    }
}

impl Actor {
    fn start(base: &Path, number: u64, (seat, seats): (usize, usize)) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["an_actor_plays_its_part", "--exact", "--nocapture", "--test-threads=1"])
            .env(PLACE, base)
            .env(SEAT, format!("{number} {seat} {seats}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let errors = child.stderr.take().unwrap();
        let (warn, warnings) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                eprintln!("{line}");
                if line.contains("makes no sense") {
                    let _ = warn.send(line); // as below
                }
            }
        });
        let (say, hear) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(said) = line.strip_prefix(SAID) {
                    let _ = say.send(said.to_owned()); // no test listens once the test is over
                }
            }
        });
        Self { child, input, output: hear, warnings }
    }

    fn ask(&mut self, what: &str) -> String {
        writeln!(self.input, "{what}").expect("it lives");
        self.output.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no answer to {what}: {error}"))
    }

    fn signal(&self, signal: libc::c_int) {
        let id = i32::try_from(self.child.id()).unwrap();
        // SAFETY: takes numbers only; the child was not waited for, so the number is still its own.
        unsafe { libc::kill(id, signal) };
    }

    /// Stops it, and waits until it has stopped: the signal takes time.
    fn stop(&self) {
        self.signal(libc::SIGSTOP);
        let is_stopped = |thread: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(thread.unwrap().path().join("stat"));
            // The program's name, in parentheses, may contain any characters.
            status.is_ok_and(|status| status.rsplit(')').next().unwrap().trim_start().starts_with('T'))
        };
        until(&|| "it stops".to_owned(), || {
            std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().all(is_stopped)
        });
    }

    fn kill(&mut self) {
        self.child.kill().unwrap(); // SIGKILL
        self.child.wait().unwrap();
    }

    fn say_goodbye(&mut self) {
        assert_eq!(self.ask("end"), "ended");
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Returns its counts; fails if it has complaints.
    fn counts(&mut self) -> [u64; WAYS] {
        let report = self.ask("report");
        let (counts, complaints) = report.split_once(" |").unwrap();
        assert_eq!(complaints.trim(), "");
        assert_eq!(self.warnings.try_iter().collect::<Vec<_>>(), [""; 0]);
        let counts: Vec<u64> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
        counts.try_into().unwrap()
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it has ended already
        let _ = self.child.wait();
    }
}

impl Cast {
    pub(crate) fn meet(base: &Path, seats: usize) -> Self {
        let mut this = Self { base: base.to_owned(), actors: Vec::new(), started: 0, story: Vec::new() };
        for seat in 0..seats {
            this.started += 1;
            this.actors.push(Actor::start(base, this.started, (seat, seats)));
        }
        this.story.push(format!("{seats} meet"));
        this.goes_on();
        this
    }

    /// Kills an actor after `pause` microseconds.
    pub(crate) fn kill(&mut self, which: usize, pause: u64) {
        self.story.push(format!("{which} is killed after {pause} µs"));
        thread::sleep(Duration::from_micros(pause));
        self.actors[which].kill();
        self.start_again(which);
    }

    pub(crate) fn kill_two(&mut self, (one, other): (usize, usize), pause: u64) {
        self.story.push(format!("{one} and {other} are killed after {pause} µs"));
        thread::sleep(Duration::from_micros(pause));
        self.actors[one].signal(libc::SIGKILL);
        self.actors[other].signal(libc::SIGKILL);
        for which in [one, other] {
            self.actors[which].kill();
            self.start_again(which);
        }
    }

    pub(crate) fn stop_and_go_on(&mut self, which: usize, pause: u64) {
        self.story.push(format!("{which} stops for {pause} µs"));
        self.actors[which].stop();
        thread::sleep(Duration::from_micros(pause * 20));
        self.actors[which].signal(libc::SIGCONT);
    }

    pub(crate) fn kill_while_it_is_stopped(&mut self, which: usize, pause: u64) {
        self.story.push(format!("{which} stops, and is killed after {pause} µs"));
        self.actors[which].stop();
        thread::sleep(Duration::from_micros(pause * 20));
        self.actors[which].kill();
        self.start_again(which);
    }

    pub(crate) fn say_goodbye_and_come_again(&mut self, which: usize) {
        self.story.push(format!("{which} says goodbye"));
        self.actors[which].say_goodbye();
        self.start_again(which);
    }

    fn start_again(&mut self, which: usize) {
        self.started += 1;
        let seats = (which, self.actors.len());
        self.actors[which] = Actor::start(&self.base, self.started, seats);
    }

    /// Checks that all still receive by every way, and that nothing is left of dead processes.
    #[track_caller]
    pub(crate) fn goes_on(&mut self) {
        let story = self.story[self.story.len().saturating_sub(6)..].join(", ");
        for which in 0..self.actors.len() {
            let (before, mut now) = (self.actors[which].counts(), [0; WAYS]);
            let begin = Instant::now();
            while before.iter().zip(&now).any(|(before, now)| before >= now) {
                assert!(begin.elapsed() < PATIENCE, "{which} hangs: {before:?}, {now:?}; {story}");
                thread::sleep(Duration::from_millis(5));
                now = self.actors[which].counts();
            }
        }
        let expected = PARTICIPANTS * self.actors.len();
        let what = || format!("{:?} are not {expected}; {story}", self.owners());
        until(&what, || self.owners().len() == expected);
    }

    /// Returns the participants that have files.
    fn owners(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.base.join(DOMAIN.to_string())).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter_map(|name| Some(name.split('.').next()?.to_owned())).collect()
    }

    /// Ends all processes, and checks that nothing is left.
    pub(crate) fn end(mut self) {
        for actor in &mut self.actors {
            actor.say_goodbye();
        }
        let onlooker = Space::join(&Domain::open(Some(&self.base), DOMAIN).unwrap()).unwrap();
        let what = || format!("{:?} are left; {}", self.owners(), self.story.join(", "));
        until(&what, || self.owners().len() == 1);
        drop(onlooker);
        assert!(self.owners().is_empty(), "{:?} is left", self.owners());
    }
}
