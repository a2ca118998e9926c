//! What a spinning thread asks of the operating system: a core, a realtime priority, memory that
//! stays where it is.
//!
//! The thread that spins calls [`ThreadOptions::prepare`] once, before it starts others (they would
//! inherit the core it was placed on, and think it the only one allowed). Then every worker, itself
//! included, calls [`ThreadSetup::apply`] for itself. What was changed is put back when the worker
//! drops its [`Restore`]: the thread that called `spin` isn't ours.

use crate::sys::logging::{Level, tell};
use crate::sys::sync::Mutex;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeMap;
use std::io;
use std::marker::PhantomData;
use std::sync::LazyLock;

/// On which cores the threads of an executor run.
///
/// Left alone, the kernel tends to wake a thread on the core of the thread that woke it, and two
/// busy workers then take turns on one core while another idles. So they are placed, one on each
/// core, while they spin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Placement {
    /// Each on a core of its own, of those the spinning thread is allowed to use, where the fewest
    /// workers of this process' executors are; with more workers than cores they share. With one
    /// worker, or one core, nothing is changed; nor if the operating system doesn't allow it. The
    /// default.
    #[default]
    Spread,
    /// The first worker (the thread that spins) on the first core of the list, and so on, and from
    /// the beginning if there are more workers. The numbers are the operating system's, beginning
    /// at 0.
    Cores(Vec<usize>),
    /// Where the kernel puts them.
    Off,
}

/// Why a thread of an executor could not be set up as its options say.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// There is no such core, or the process may not use it.
    #[error(
        "worker {worker} can't run on core {core}: there is none, it is offline, or this process may not use it; \
         `lscpu --extended` and `cat /proc/self/status` (Cpus_allowed_list) say which there are"
    )]
    Core {
        /// The worker's number, from 0.
        worker: usize,
        /// The core that was asked for.
        core: usize,
    },
    /// The operating system refused.
    #[error("{call} failed: {reason}; {remedy}")]
    System {
        /// The system call, and what for.
        call: &'static str,
        /// What the operating system said.
        reason: String,
        /// What might help.
        remedy: &'static str,
    },
}

crate::sys::says::debug_says!(ThreadError: Core { worker, core }, System { call, reason, remedy });

impl ThreadError {
    fn system(call: &'static str, error: &io::Error, remedy: &'static str) -> Self {
        Self::System { call, reason: error.to_string(), remedy }
    }
}

/// What the threads of an executor ask of the operating system.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ThreadOptions {
    pub(crate) placement: Placement,
    /// A `SCHED_FIFO` priority, 1 to 99 (the builder has seen to it). Default: none, the thread
    /// keeps its scheduling policy.
    pub(crate) priority: Option<u8>,
    /// Locks all memory of the process, what it has and what it will have, into RAM. It stays so
    /// after the spin: other parts of the process may have come to count on it.
    pub(crate) lock_memory: bool,
}

impl ThreadOptions {
    /// Locks the memory and chooses the cores for that many workers. Called by
    /// the thread that spins.
    pub(crate) fn prepare(&self, workers: usize) -> Result<ThreadSetup, ThreadError> {
        let cores = match &self.placement {
            Placement::Cores(cores) => cores.clone(),
            Placement::Spread | Placement::Off => Vec::new(),
        };
        if self.lock_memory {
            lock_memory()?;
        }
        let places = match &self.placement {
            Placement::Spread => ReservedCores::choose(workers, &allowed_cores()),
            _ => ReservedCores::default(),
        };
        Ok(ThreadSetup { cores, places, priority: self.priority })
    }
}

/// What each worker is to set for itself. While it lives, its places count as taken.
#[derive(Debug)]
pub(crate) struct ThreadSetup {
    /// The cores the user listed.
    cores: Vec<usize>,
    /// The cores we chose, if there is a choice.
    places: ReservedCores,
    priority: Option<u8>,
}

impl ThreadSetup {
    /// Sets up the calling thread, which is the worker of that number (from 0), until the result is
    /// dropped.
    pub(crate) fn apply(&self, worker: usize) -> Result<Restore, ThreadError> {
        let mut restore = Restore { affinity: None, policy: None, of_this_thread: PhantomData };
        if let Some(core) = of_worker(&self.cores, worker) {
            restore.affinity = Some(pin(core).map_err(|error| match error.raw_os_error() {
                Some(libc::EINVAL) => ThreadError::Core { worker, core },
                _ => ThreadError::system(
                    "sched_setaffinity (placing a thread on a core)",
                    &error,
                    "use Placement::Off",
                ),
            })?);
        } else if let Some(core) = of_worker(&self.places.0, worker) {
            match pin(core) {
                Ok(before) => restore.affinity = Some(before),
                Err(error) => tell!(Level::Debug, "worker {worker} stays where the kernel puts it: {error}"),
            }
        }
        if let Some(priority) = self.priority {
            let policy = |error| {
                ThreadError::system(
                    "sched_setscheduler (SCHED_FIFO)",
                    &error,
                    "a realtime priority needs CAP_SYS_NICE, or a limit (`ulimit -r`, `rtprio` in \
                     /etc/security/limits.conf) as high as the priority",
                )
            };
            let before = SchedulingPolicy::of_this_thread().map_err(policy)?;
            SchedulingPolicy::realtime(priority).set().map_err(policy)?;
            restore.policy = Some(before);
        }
        Ok(restore)
    }
}

fn of_worker(cores: &[usize], worker: usize) -> Option<usize> {
    cores.get(worker.checked_rem(cores.len())?).copied()
}

/// What the calling thread had before [`ThreadSetup::apply`]; dropped, it has it again.
#[must_use = "dropped, it undoes what was applied"]
#[derive(Debug)]
pub(crate) struct Restore {
    affinity: Option<CpuSet>,
    policy: Option<SchedulingPolicy>,
    /// Not `Send`: it would give one thread's to another.
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(affinity) = &self.affinity {
            // It fails if those cores were taken from the process meanwhile: then any others are as
            // good.
            let _ = sched_setaffinity(None, affinity);
        }
        if let Some(policy) = self.policy
            && policy.set().is_err()
        {
            // Who may use a realtime priority by its limit alone may not take back that children
            // don't inherit it.
            let _ = policy.not_for_children().set();
        }
    }
}

// ---- cores ----

/// How many workers of this process are placed on each core, where there are any.
static PLACED: LazyLock<Mutex<BTreeMap<usize, usize>>> = LazyLock::new(|| Mutex::new(BTreeMap::new()));

/// The cores of the workers of one executor, entered in [`PLACED`]. Empty: they stay where the
/// kernel puts them.
#[derive(Debug, Default)]
struct ReservedCores(Vec<usize>);

impl ReservedCores {
    fn choose(workers: usize, allowed: &[usize]) -> Self {
        if workers < 2 || allowed.len() < 2 {
            return Self::default();
        }
        let mut placed = PLACED.lock();
        Self(spread(workers, allowed, &mut placed))
    }
}

impl Drop for ReservedCores {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let mut placed = PLACED.lock();
        for core in &self.0 {
            if let Some(count) = placed.get_mut(core) {
                *count -= 1;
            }
        }
        placed.retain(|_, count| *count > 0);
    }
}

/// Chooses a core for each worker: the first of those with the fewest workers.
fn spread(workers: usize, allowed: &[usize], placed: &mut BTreeMap<usize, usize>) -> Vec<usize> {
    let mut choose = || {
        let core = allowed.iter().copied().min_by_key(|core| placed.get(core).copied().unwrap_or(0))?;
        *placed.entry(core).or_default() += 1;
        Some(core)
    };
    (0..workers).filter_map(|_| choose()).collect()
}

/// The cores that the calling thread may run on; none if that isn't known (more of them than a set
/// here holds, a sandbox).
fn allowed_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Keeps the calling thread on a core; returns where it might run before.
fn pin(core: usize) -> io::Result<CpuSet> {
    if core >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL)); // as the kernel says to one that isn't there
    }
    let before = sched_getaffinity(None)?;
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set)?;
    Ok(before)
}

// ---- priority ----

/// A thread's scheduling policy, with its flags, and its priority in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SchedulingPolicy {
    policy: i32,
    priority: i32,
}

impl SchedulingPolicy {
    /// Threads and processes that a callback starts don't inherit it: they would take the core for
    /// as long as they like.
    fn realtime(priority: u8) -> Self {
        Self { policy: libc::SCHED_FIFO, priority: i32::from(priority) }.not_for_children()
    }

    fn not_for_children(self) -> Self {
        Self { policy: self.policy | libc::SCHED_RESET_ON_FORK, ..self }
    }

    fn of_this_thread() -> io::Result<Self> {
        let mut parameters = no_parameters();
        // The kernel's calls: musl's functions of these names fail always, as POSIX wants them to
        // be of whole processes.
        // SAFETY: takes no pointer; 0 stands for the calling thread.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        let Ok(policy @ 0..) = i32::try_from(policy) else { return Err(io::Error::last_os_error()) };
        // SAFETY: the kernel writes one `sched_param`, into one that lives here.
        if unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut parameters) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { policy, priority: parameters.sched_priority })
    }

    fn set(self) -> io::Result<()> {
        let mut parameters = no_parameters();
        parameters.sched_priority = self.priority;
        // SAFETY: the kernel reads one `sched_param`, which lives here.
        let result =
            unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, self.policy, &raw const parameters) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

fn no_parameters() -> libc::sched_param {
    // SAFETY: a struct of numbers, of which there are more in musl; 0 is valid for all. The kernel
    // knows the first one.
    unsafe { std::mem::zeroed() }
}

// ---- memory ----

/// Locks the memory of the process, once.
fn lock_memory() -> Result<(), ThreadError> {
    static LOCKED: LazyLock<Mutex<bool>> = LazyLock::new(|| Mutex::new(false));
    let mut locked = LOCKED.lock();
    if !*locked {
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|error| {
            ThreadError::system(
                "mlockall (locking memory)",
                &error.into(),
                "it needs CAP_IPC_LOCK, or a limit (`ulimit -l`, `memlock` in /etc/security/limits.conf) above all \
                 that the process uses",
            )
        })?;
        *locked = true;
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread;

    fn options(placement: Placement) -> ThreadOptions {
        ThreadOptions { placement, ..ThreadOptions::default() }
    }

    /// Runs a test on a thread of its own, so that wrong settings of it do no harm.
    fn aside(test: impl FnOnce() + Send + 'static) {
        thread::spawn(test).join().expect("the test passes");
    }

    #[test]
    fn workers_get_cores_of_their_own_and_share_when_there_are_too_few() {
        let mut placed = BTreeMap::new();
        assert_eq!(spread(2, &[4, 5, 7], &mut placed), [4, 5]);
        assert_eq!(spread(2, &[4, 5, 7], &mut placed), [7, 4], "the next executor's go where nobody is");
        assert_eq!(spread(5, &[1, 2], &mut BTreeMap::new()), [1, 2, 1, 2, 1]);
        assert!(spread(3, &[], &mut placed).is_empty());
    }

    #[test]
    fn places_are_free_again_when_the_plan_goes() {
        let (first, second) = (10_000, 10_001); // of no machine, so of no other test
        let places = ReservedCores::choose(3, &[first, second]);
        assert_eq!(places.0, [first, second, first]);
        drop(places);
        assert_eq!(ReservedCores::choose(2, &[first, second]).0, [first, second]);
        assert!(ReservedCores::choose(2, &[first]).0.is_empty(), "there is nothing to choose");
        assert!(ReservedCores::choose(1, &[first, second]).0.is_empty());
    }

    #[test]
    fn a_thread_is_placed_where_the_list_says_and_gets_its_cores_back() {
        aside(|| {
            let before = allowed_cores();
            let last = *before.last().unwrap();
            let plan = options(Placement::Cores(vec![before[0], last])).prepare(3).unwrap();
            for (worker, core) in [(0, before[0]), (1, last), (2, before[0])] {
                let restore = plan.apply(worker).unwrap();
                assert_eq!(allowed_cores(), [core]);
                drop(restore);
                assert_eq!(allowed_cores(), before);
            }
        });
    }

    #[test]
    fn spread_workers_are_on_different_cores_if_there_are_some() {
        aside(|| {
            let before = allowed_cores();
            let plan = options(Placement::Spread).prepare(2).unwrap();
            let mut cores: Vec<_> = (0..2)
                .map(|worker| {
                    let _restore = plan.apply(worker).unwrap();
                    allowed_cores()
                })
                .collect();
            assert_eq!(allowed_cores(), before);
            if before.len() > 1 {
                cores.iter().for_each(|cores| assert_eq!(cores.len(), 1));
                cores.dedup();
                assert_eq!(cores.len(), 2);
            } else {
                assert_eq!(cores, [before.clone(), before]);
            }
        });
    }

    #[test]
    fn one_worker_and_no_placement_change_nothing() {
        aside(|| {
            let before = allowed_cores();
            for (placement, workers) in [(Placement::Spread, 1), (Placement::Off, 4)] {
                let plan = options(placement).prepare(workers).unwrap();
                let _restore = plan.apply(0).unwrap();
                assert_eq!(allowed_cores(), before);
            }
        });
    }

    #[test]
    fn a_core_that_there_is_not_is_an_error_that_says_which() {
        aside(|| {
            let before = allowed_cores();
            for core in [CpuSet::MAX_CPU - 1, CpuSet::MAX_CPU, usize::MAX] {
                let plan = options(Placement::Cores(vec![before[0], core])).prepare(2).unwrap();
                let error = plan.apply(1).unwrap_err();
                assert_eq!(error, ThreadError::Core { worker: 1, core });
                assert!(error.to_string().contains(&format!("core {core}")));
                assert_eq!(allowed_cores(), before);
            }
        });
    }

    #[test]
    fn a_thread_gets_its_priority_or_an_error_with_the_remedy() {
        aside(|| {
            let before = SchedulingPolicy::of_this_thread().unwrap();
            let cores = allowed_cores();
            let plan = ThreadOptions {
                priority: Some(3),
                placement: Placement::Cores(vec![cores[0]]),
                lock_memory: false,
            };
            match plan.prepare(1).unwrap().apply(0) {
                Ok(restore) => {
                    let now = SchedulingPolicy::of_this_thread().unwrap();
                    assert_eq!(now, SchedulingPolicy::realtime(3));
                    let child = thread::spawn(|| SchedulingPolicy::of_this_thread().unwrap()).join().unwrap();
                    assert_eq!(child.policy & libc::SCHED_FIFO, 0, "a callback's threads are not realtime");
                    drop(restore);
                }
                Err(error) => {
                    let ThreadError::System { reason, remedy, .. } = &error else { panic!("{error}") };
                    assert!(reason.contains("not permitted"), "{error}");
                    assert!(remedy.contains("CAP_SYS_NICE") && remedy.contains("ulimit -r"), "{error}");
                }
            }
            let after = SchedulingPolicy::of_this_thread().unwrap();
            assert_eq!(
                (after.policy & !libc::SCHED_RESET_ON_FORK, after.priority),
                (before.policy, before.priority)
            );
            assert_eq!(allowed_cores(), cores);
        });
    }

    #[test]
    fn memory_is_locked_or_the_error_says_what_it_takes() {
        // In a process of its own: with a limit on locked memory, the other tests could get none
        // any more.
        const IN_CHILD: &str = "SINEW_TEST_LOCKS_MEMORY";
        if std::env::var_os(IN_CHILD).is_none() {
            let name = thread::current().name().map(str::to_owned).unwrap();
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            let output = child.args(["--exact", &name]).env(IN_CHILD, "1").output().unwrap();
            let report = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && report.contains("1 passed"), "{report}");
            return;
        }
        let options = ThreadOptions { lock_memory: true, ..options(Placement::Off) };
        match options.prepare(1).and_then(|_| options.prepare(1)) {
            Ok(_) => {
                let status = std::fs::read_to_string("/proc/self/status").unwrap();
                let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
                assert_ne!(locked.trim(), "0 kB");
            }
            Err(error) => assert!(error.to_string().contains("ulimit -l"), "{error}"),
        }
    }
}
