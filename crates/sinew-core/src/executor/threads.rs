//! Settings of spinning threads in the operating system: a core, a realtime priority, locked
//! memory.
//!
//! The thread that spins calls [`ThreadOptions::prepare`] once, before it starts other threads
//! (which would inherit its core as the only one allowed). Then every worker, itself included,
//! calls [`ThreadSetup::apply`] for itself. When a worker drops its [`Restore`], the former
//! settings return: the thread that called `spin` belongs to the program.

use crate::sys::logging::{Level, log_line};
use crate::sys::sync::Mutex;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeMap;
use std::io;
use std::marker::PhantomData;
use std::sync::LazyLock;

/// The cores on which the threads of an executor run.
///
/// By itself the kernel tends to wake a thread on the core of the thread that woke it, so two busy
/// workers may take turns on one core while another is idle. So an executor places its workers, one
/// on each core, while they spin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Placement {
    /// The default. Each worker runs on a core of its own, among the cores allowed for the spinning
    /// thread: those with the fewest workers of this process's executors. If there are more workers
    /// than cores, workers share a core. Nothing changes for one worker or one core, or if the
    /// operating system doesn't allow it.
    #[default]
    Spread,
    /// The first worker (the thread that spins) runs on the first core of the list, the second on
    /// the next, and so on; further workers begin at the first core again. The numbers are those of
    /// the operating system, from 0.
    Cores(Vec<usize>),
    /// The kernel places the workers.
    Off,
}

/// The reason why a thread of an executor could not be set up with its options.
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
        /// The requested core.
        core: usize,
    },
    /// The operating system refused.
    #[error("{call} failed: {reason}; {remedy}")]
    System {
        /// The system call, and its purpose.
        call: &'static str,
        /// The error of the operating system.
        reason: String,
        /// A remedy.
        remedy: &'static str,
    },
}

crate::sys::says::debug_says!(ThreadError: Core { worker, core }, System { call, reason, remedy });

impl ThreadError {
    fn system(call: &'static str, error: &io::Error, remedy: &'static str) -> Self {
        Self::System { call, reason: error.to_string(), remedy }
    }
}

/// The settings of an executor's threads in the operating system.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ThreadOptions {
    pub(crate) placement: Placement,
    /// A `SCHED_FIFO` priority, 1 to 99 (the builder checks it). Default: none, the thread keeps
    /// its scheduling policy.
    pub(crate) priority: Option<u8>,
    /// Locks all present and future memory of the process into RAM. The memory stays locked after
    /// the spin: other parts of the process may rely on it.
    pub(crate) lock_memory: bool,
}

impl ThreadOptions {
    /// Locks the memory, and chooses the cores for this number of workers. Called by the thread
    /// that spins.
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

/// The settings that each worker applies to itself. While this lives, its cores count as taken.
#[derive(Debug)]
pub(crate) struct ThreadSetup {
    /// The cores that the program listed.
    cores: Vec<usize>,
    /// The cores chosen here, if there is a choice.
    places: ReservedCores,
    priority: Option<u8>,
}

impl ThreadSetup {
    /// Sets up the calling thread as the worker of this number (from 0), until the result is
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
                Err(error) => {
                    log_line!(Level::Debug, "worker {worker} stays where the kernel puts it: {error}")
                }
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

/// The calling thread's settings before [`ThreadSetup::apply`]; dropping this restores them.
#[must_use = "dropping this undoes the settings"]
#[derive(Debug)]
pub(crate) struct Restore {
    affinity: Option<CpuSet>,
    policy: Option<SchedulingPolicy>,
    /// Not `Send`: the settings belong to this thread.
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(affinity) = &self.affinity {
            // This fails if the process lost those cores meanwhile: then any others are as good.
            let _ = sched_setaffinity(None, affinity);
        }
        if let Some(policy) = self.policy
            && policy.set().is_err()
        {
            // A thread that may use a realtime priority only by its limit can't clear the flag that
            // keeps children from inheriting it.
            let _ = policy.not_for_children().set();
        }
    }
}

// ---- cores ----

/// Number of workers of this process on each core that has any.
static PLACED: LazyLock<Mutex<BTreeMap<usize, usize>>> = LazyLock::new(|| Mutex::new(BTreeMap::new()));

/// The cores of the workers of one executor, counted in [`PLACED`]; empty if the kernel places
/// them.
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

/// Returns the cores that the calling thread may run on; none if they aren't known (a sandbox, or
/// more than a set holds).
fn allowed_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Keeps the calling thread on a core; returns the cores that were allowed before.
fn pin(core: usize) -> io::Result<CpuSet> {
    if core >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL)); // the kernel's answer for a missing core
    }
    let before = sched_getaffinity(None)?;
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set)?;
    Ok(before)
}

// ---- priority ----

/// A thread's scheduling policy with its flags, and its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SchedulingPolicy {
    policy: i32,
    priority: i32,
}

impl SchedulingPolicy {
    /// Threads and processes that a callback starts don't inherit it: they could keep the core for
    /// any time.
    fn realtime(priority: u8) -> Self {
        Self { policy: libc::SCHED_FIFO, priority: i32::from(priority) }.not_for_children()
    }

    fn not_for_children(self) -> Self {
        Self { policy: self.policy | libc::SCHED_RESET_ON_FORK, ..self }
    }

    fn of_this_thread() -> io::Result<Self> {
        let mut parameters = no_parameters();
        // System calls of the kernel: musl's functions of these names always fail, since POSIX
        // defines them for whole processes.
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

    /// Runs a test on a thread of its own, so that its settings affect no other test.
    fn aside(test: impl FnOnce() + Send + 'static) {
        thread::spawn(test).join().expect("the test passes");
    }

    #[test]
    fn workers_get_cores_of_their_own_and_share_when_there_are_too_few() {
        let mut placed = BTreeMap::new();
        assert_eq!(spread(2, &[4, 5, 7], &mut placed), [4, 5]);
        assert_eq!(spread(2, &[4, 5, 7], &mut placed), [7, 4], "the next ones go to free cores");
        assert_eq!(spread(5, &[1, 2], &mut BTreeMap::new()), [1, 2, 1, 2, 1]);
        assert!(spread(3, &[], &mut placed).is_empty());
    }

    #[test]
    fn places_are_free_again_when_the_plan_goes() {
        let (first, second) = (10_000, 10_001); // cores of no machine, so of no other test
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
        // In a process of its own: with a limit on locked memory, the other tests could allocate
        // none any more.
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
