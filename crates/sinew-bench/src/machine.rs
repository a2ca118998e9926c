//! Facts about this process and its host, from the operating system.

use std::fs;
use std::num::NonZeroU64;
use std::ops::Add;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::{Error, nanoseconds};

/// The host a result was measured on.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// The processor's own name, or its architecture if it has none.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Name and release of the kernel.
    pub kernel: String,
    /// When the run started, UTC.
    pub date: String,
    /// The command line, without the program's name.
    pub options: Vec<String>,
    /// The version of this program.
    pub version: &'static str,
    /// `release`, or `debug` for a build with meaningless times.
    pub build: &'static str,
    /// Cargo's profile, such as `release` or `c`.
    pub profile: &'static str,
}

impl Host {
    /// Reads everything; unknown facts become `unknown`.
    pub fn read() -> Self {
        let system = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let wall = clock_gettime(ClockId::Realtime);
        let since_epoch = Duration::from_secs(u64::try_from(wall.tv_sec).unwrap_or(0));
        Self {
            cpu: model_name(&info).map_or_else(|| text(system.machine()), str::to_owned),
            cores: allowed_cores().map_or(1, |cores| cores.len()),
            kernel: format!("{} {}", text(system.sysname()), text(system.release())),
            date: humantime::format_rfc3339_seconds(UNIX_EPOCH + since_epoch).to_string(),
            options: std::env::args_os()
                .skip(1)
                .map(|option| option.to_string_lossy().into_owned())
                .collect(),
            version: env!("CARGO_PKG_VERSION"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            profile: option_env!("SINEW_PROFILE").unwrap_or("unknown"),
        }
    }
}

fn model_name(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

/// Returns the CPU time that this process has used so far: all threads, user and system.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the CPU time that the calling thread has used so far, user and system, in nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Returns the resident memory of this process, in bytes; `None` if the kernel doesn't report it.
pub fn resident_bytes() -> Option<u64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse::<u64>().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns the resident memory of this process that is neither of a file nor shared, in bytes;
/// `None` if the kernel doesn't report it.
pub fn anonymous_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// The resources that a process uses alone, or their growth between two moments.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Own {
    /// Resident memory that is neither of a file nor shared.
    pub bytes: i64,
    /// CPU time that all threads have used, user and system.
    pub cpu_ns: i64,
}

impl Own {
    /// This process's resources at this moment. The time for the query comes before it.
    pub fn now() -> Self {
        let bytes = anonymous_bytes().unwrap_or(0).cast_signed();
        Self { bytes, cpu_ns: nanoseconds(cpu_time()) }
    }

    /// Returns their growth since then. The time for the query comes after it.
    pub fn since(before: Self) -> Self {
        let cpu_ns = nanoseconds(cpu_time()) - before.cpu_ns;
        Self { bytes: anonymous_bytes().unwrap_or(0).cast_signed() - before.bytes, cpu_ns }
    }
}

impl Add for Own {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, cpu_ns: self.cpu_ns + other.cpu_ns }
    }
}

/// Bytes of the files in a directory and below it. Holes don't count, nor do files that are gone by
/// now.
pub fn bytes_in(directory: &Path) -> Result<u64, Error> {
    let failed = |source| Error::File { action: "look into", path: directory.to_owned(), source };
    let mut bytes = 0;
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes += bytes_in(&entry.path())?,
            Ok(metadata) => bytes += metadata.blocks() * 512,
            Err(_) => {}
        }
    }
    Ok(bytes)
}

/// Returns the cores this thread may run on, in ascending order.
pub fn allowed_cores() -> Result<Vec<usize>, Error> {
    let set = rustix::thread::sched_getaffinity(None).map_err(Error::system("sched_getaffinity"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// As [`two_cores`], where there is no other way.
pub(crate) fn cores() -> Result<(usize, usize), Error> {
    two_cores()?.ok_or(Error::OneCore)
}

/// Returns two different cores, if possible not two threads of one core; `None` if only one is
/// allowed.
pub fn two_cores() -> Result<Option<(usize, usize)>, Error> {
    let cores = allowed_cores()?;
    let [first, others @ ..] = cores.as_slice() else { return Ok(None) };
    let path = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
    let siblings = fs::read_to_string(path).map(|list| core_list(&list)).unwrap_or_default();
    let second = others.iter().find(|core| !siblings.contains(core)).or(others.first());
    Ok(second.map(|&second| (*first, second)))
}

/// Parses the kernel's form of a core list, such as `0,4-6`. Anything that isn't a number is left
/// out.
fn core_list(list: &str) -> Vec<usize> {
    let mut cores = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            cores.extend(first..=last);
        }
    }
    cores
}

/// Ties the calling thread to one core.
pub fn pin_to(core: usize) -> Result<(), Error> {
    keep_to(&[core])
}

/// Restricts the calling thread, and the threads that it starts, to some cores.
pub fn keep_to(cores: &[usize]) -> Result<(), Error> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    rustix::thread::sched_setaffinity(None, &set).map_err(Error::system("sched_setaffinity"))
}

/// Asks the kernel to wake the calling thread from sleeps as exactly as possible.
pub fn sleep_exactly() -> Result<(), Error> {
    rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN))
        .map_err(Error::system("prctl(PR_SET_TIMERSLACK)"))
}

/// Returns the size of the largest cache of the first core, in bytes; a generous guess if the
/// kernel doesn't report it.
pub fn last_cache_bytes() -> usize {
    const GUESS: usize = 64 << 20;
    (0..8)
        .filter_map(|index| {
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()
        })
        .filter_map(|size| size.trim().strip_suffix('K')?.parse::<usize>().ok())
        .max()
        .map_or(GUESS, |kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_lists() {
        assert_eq!(core_list("0\n"), [0]);
        assert_eq!(core_list("0,4-6,9"), [0, 4, 5, 6, 9]);
        assert_eq!(core_list(""), [0; 0]);
    }

    #[test]
    fn the_processors_name() {
        assert_eq!(model_name("processor\t: 0\nmodel name\t: Fast: 9\n"), Some("Fast: 9"));
        assert_eq!(model_name("processor : 0\n"), None);
    }

    #[test]
    fn this_process_uses_time_and_memory() {
        assert!(cpu_time() > Duration::ZERO);
        assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000));
        let own = Own::now();
        assert!(own.bytes > 4096 && own.cpu_ns > 0, "{own:?}");
        assert!(!allowed_cores().unwrap().is_empty());
    }

    #[test]
    fn holes_of_files_take_no_memory() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::create_dir(directory.path().join("below")).unwrap();
        fs::write(directory.path().join("below/full"), vec![1; 8192]).unwrap();
        fs::File::create(directory.path().join("hole")).unwrap().set_len(1 << 20).unwrap();
        assert_eq!(bytes_in(directory.path()).unwrap(), 8192);
    }
}
