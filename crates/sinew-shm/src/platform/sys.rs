//! The calls to the operating system, and nothing else: a port to another system needs another file
//! like this one.
//!
//! For Linux 5.4 and later. Besides common calls it uses `O_TMPFILE` and `linkat` (segments appear
//! complete), open file description locks (liveness), shared futexes (bells) and inotify (changes
//! of other participants). Features that kernels may lack or sandboxes refuse have a substitute:
//! `MADV_DONTFORK` and `MADV_WIPEONFORK` ([`fork`](crate::platform::fork)), `membarrier`
//! ([`fence_all_threads`]).

use crate::error::SystemError;
use crate::platform::sync::{AtomicU32, Ordering, PlainU64};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::thread::Timespec;
#[cfg(not(loom))]
use rustix::thread::futex;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::time::Duration;

/// A mapped range of a file.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    length: usize,
    /// The process that mapped it: a forked child doesn't have the mapping, and must not unmap the
    /// memory at its address, which is another mapping's.
    process: u32,
}

// SAFETY: an address range without owner thread; `ShmRef` and `chunk` are responsible for accesses
// to its content.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Maps the first `length` bytes of a file, which is long enough, as memory shared by all
    /// processes.
    pub(crate) fn new(file: impl AsFd, length: usize, writable: bool) -> io::Result<Self> {
        let access = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice overlays nothing.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, file, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { base, length, process: std::process::id() })
    }

    /// A page private to this process.
    pub(crate) fn page() -> io::Result<Self> {
        let length = rustix::param::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlays nothing.
        let base =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, access, MapFlags::PRIVATE) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { base, length, process: std::process::id() })
    }

    /// The first word, for a page that has no other content.
    #[inline]
    pub(crate) fn first_word(&self) -> &AtomicU32 {
        // SAFETY: a mapping is aligned to pages, at least one long, and lives as long as `self`.
        unsafe { self.base.cast::<AtomicU32>().as_ref() }
    }

    /// Keeps the mapping out of forked children. Returns an error if the kernel can't do that.
    pub(crate) fn stay_out_of_children(&self) -> io::Result<()> {
        self.advise(Advice::LinuxDontFork)
    }

    /// Makes the kernel zero the mapping in forked children. Returns an error if the kernel can't
    /// do that.
    pub(crate) fn wipe_in_children(&self) -> io::Result<()> {
        self.advise(Advice::LinuxWipeOnFork)
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the range is this mapping's; neither advice changes anything in this process.
        Ok(unsafe { rustix::mm::madvise(self.base.as_ptr().cast(), self.length, advice) }?)
    }

    /// Unmaps it in a child that has inherited it, which accesses nothing of it (`ForkMark`). Does
    /// nothing in the process that made it.
    pub(crate) fn unmap_in_child(&self) {
        if self.process != std::process::id() {
            // SAFETY: mapped by the parent with this length, so by this process; see above.
            let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.length) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        // SAFETY: mapped by `new` with this length; references into it keep it alive (`ShmRef`).
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// Another description of the same open file: it doesn't have the locks of the first one.
pub(crate) fn reopen(file: &OwnedFd, flags: OFlags) -> Result<OwnedFd, SystemError> {
    let path = proc_path(file);
    rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty()).map_err(SystemError::at("open", &path))
}

/// The kernel's path of an open file, for calls that take a path.
pub(crate) fn proc_path(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

pub(crate) fn change_mode(file: &OwnedFd, mode: u32, path: &Path) -> Result<(), SystemError> {
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode)).map_err(SystemError::at("fchmod", path))
}

/// Reserves space for this part of a file, so that writing there can't fail later.
pub(crate) fn reserve(file: &OwnedFd, offset: usize, length: usize) -> io::Result<()> {
    loop {
        match rustix::fs::fallocate(file, FallocateFlags::empty(), offset as u64, length as u64) {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Gives the space of this part of a file back. It reads as zeros then, and must not be accessed.
pub(crate) fn punch(file: &OwnedFd, offset: usize, length: usize) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    loop {
        match rustix::fs::fallocate(file, flags, offset as u64, length as u64) {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Changes a file's times, which notifies the processes that watch it.
pub(crate) fn touch(file: &OwnedFd) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
    Ok(rustix::fs::futimens(file, &times)?)
}

/// The time of a change, in seconds and nanoseconds; only for comparison.
pub(crate) type FileTime = (i64, i64);

/// The kind of a lock on a byte of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    Read,
    Write,
}

/// Locks one byte for this open file description, until its last descriptor and mapping are gone.
pub(crate) fn lock(file: &OwnedFd, byte: i64, kind: Lock) -> io::Result<()> {
    let mut wanted = flock(byte, kind);
    // SAFETY: a valid descriptor and a valid `flock` for the duration of the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut wanted) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether a lock of another process prevents this one. Takes no lock.
pub(crate) fn is_locked(file: &OwnedFd, byte: i64, kind: Lock) -> io::Result<bool> {
    let mut wanted = flock(byte, kind);
    // SAFETY: as in `lock`.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut wanted) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(wanted.l_type) != libc::F_UNLCK)
}

fn flock(byte: i64, kind: Lock) -> libc::flock {
    let kind = if kind == Lock::Read { libc::F_RDLCK } else { libc::F_WRLCK };
    #[expect(clippy::cast_possible_truncation, reason = "the constants are small; their C types differ")]
    libc::flock { l_type: kind as i16, l_whence: libc::SEEK_SET as i16, l_start: byte, l_len: 1, l_pid: 0 }
}

/// Converts a duration to the kernel's type.
fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// Sleeps until a thread wakes the word, unless its value is not `seen`. May return early.
pub(crate) fn futex_wait(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(timespec);
    // After every error the caller checks again (the word changed, a signal came, the time is
    // over).
    #[cfg(not(loom))]
    let _ = futex::wait(word, futex::Flags::empty(), seen, timeout.as_ref());
    #[cfg(loom)]
    {
        let _ = timeout;
        crate::platform::sync::futex_wait(word, seen);
    }
}

/// Wakes all threads that sleep on the word.
pub(crate) fn futex_wake(word: &AtomicU32) {
    #[cfg(not(loom))]
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32); // can't fail for a valid address
    #[cfg(loom)]
    {
        let _ = word;
        crate::platform::sync::futex_wake();
    }
}

/// Steady nanoseconds: the machine's monotonic clock, the same for all processes.
pub(crate) fn steady() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Wall nanoseconds since 1970.
pub(crate) fn wall() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// A number that identifies this start of the machine; 0 if it is unknown.
pub(crate) fn boot_id() -> u64 {
    static ID: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *ID.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        u64::from_str_radix(&digits, 16).unwrap_or(0)
    })
}

/// A random number other than 0.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // The standard library seeds its hash maps from the system, once per thread, and increments the
    // seed from there.
    loop {
        let number = RandomState::new().hash_one((steady(), std::process::id()));
        if number != 0 {
            return number;
        }
    }
}

/// Waits until one of the descriptors is readable. Returns `true` for those that are.
pub(crate) fn wait_readable<const N: usize>(
    descriptors: [BorrowedFd<'_>; N],
    timeout: Option<Duration>,
) -> [bool; N] {
    use rustix::event::{PollFd, PollFlags, poll};
    let timeout = timeout.map(timespec);
    let mut all = descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    // A signal, at worst: then nothing is readable and the caller checks again.
    let _ = poll(&mut all, timeout.as_ref());
    all.map(|one| one.revents().intersects(PollFlags::IN))
}

/// Wakes the helper thread from within its process.
pub(crate) struct Wake(OwnedFd);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes()); // full means woken already
    }
}

/// Waits until a thread wakes this one, or the watch has something to read.
pub(crate) fn wait_for(wake: &Wake, watch: Option<&OwnedFd>, timeout: Option<Duration>) {
    let woken = match watch {
        Some(watch) => wait_readable([wake.0.as_fd(), watch.as_fd()], timeout)[0],
        None => wait_readable([wake.0.as_fd()], timeout)[0],
    };
    if woken {
        let _ = rustix::io::read(&wake.0, &mut [0; 8]); // empty is fine
    }
}

/// The operating system's reports about the domain's directory and the control segments in it.
pub(crate) struct Watch {
    file: OwnedFd,
}

/// One report.
pub(crate) enum WatchEvent {
    /// A file of this name came into the directory.
    Came(String),
    /// A watched file was closed by a process that could write to it.
    Closed(i32),
    /// A watched file was touched, or is gone.
    Changed(i32),
    /// A file of this name left the directory.
    Went(String),
    /// More happened than could be reported.
    TooMuch,
}

impl Watch {
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let file = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        // No such call takes a descriptor.
        let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE | WatchFlags::MOVED_FROM;
        add_watch(&file, directory, flags)?;
        Ok(Self { file })
    }

    /// Watches a control segment.
    pub(crate) fn add(&self, segment: &Path) -> io::Result<i32> {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let flags = WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB | WatchFlags::DONT_FOLLOW;
        Ok(add_watch(&self.file, segment, flags)?)
    }

    /// A descriptor for another thread to wait on.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.file.try_clone()
    }

    /// All reports since the last call.
    pub(crate) fn read(&self) -> Vec<WatchEvent> {
        use rustix::fs::inotify::{ReadFlags, Reader};
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.file, &mut buffer);
        let mut all = Vec::new();
        while let Ok(event) = reader.next() {
            let flags = event.events();
            let name = event.file_name().and_then(|name| name.to_str().ok()).map(str::to_owned);
            all.push(if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                WatchEvent::TooMuch
            } else if flags.contains(ReadFlags::CLOSE_WRITE) {
                WatchEvent::Closed(event.wd())
            } else if let Some(name) = name {
                match flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
                    true => WatchEvent::Went(name),
                    false => WatchEvent::Came(name),
                }
            } else {
                WatchEvent::Changed(event.wd())
            });
        }
        all
    }
}

/// MEMBARRIER_CMD_PRIVATE_EXPEDITED of linux/membarrier.h.
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}

/// The state of the kernel's fences: [`UNKNOWN`], [`READY`] or [`REFUSED`].
static FENCES: PlainU64 = PlainU64::new(UNKNOWN);
const UNKNOWN: u64 = 0;
const READY: u64 = 1;
const REFUSED: u64 = 2;

/// Whether the kernel [fences all threads](fence_all_threads) on request.
pub(crate) fn fences_threads() -> bool {
    // A hint: a thread that relies on it requests a fence, and checks the result.
    FENCES.load(Ordering::Relaxed) == READY
}

/// Whether it is unknown if the kernel does that, so that the caller should
/// [prepare](prepare_fences) the fences.
pub(crate) fn are_fences_unknown() -> bool {
    FENCES.load(Ordering::Relaxed) == UNKNOWN // queried once more at worst
}

/// Prepares the kernel's fences, unless they are forbidden, for example in a container. Takes about
/// 10 ms in a process of several threads.
pub(crate) fn prepare_fences() {
    const QUERY: libc::c_int = 0; // MEMBARRIER_CMD_QUERY
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4; // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
    let commands = membarrier(QUERY);
    let can = commands >= 0 && commands & libc::c_long::from(PRIVATE_EXPEDITED) != 0;
    let found = if can && membarrier(REGISTER_PRIVATE_EXPEDITED) == 0 { READY } else { REFUSED };
    FENCES.store(found, Ordering::Relaxed); // as in `fences_threads`
}

/// Makes the kernel put a memory barrier into every running thread of this process. Returns `false`
/// if it doesn't: then only the caller's own fence has an effect; see `Accepted::has_listener`.
pub(crate) fn fence_all_threads() -> bool {
    let fenced = fences_threads() && membarrier(PRIVATE_EXPEDITED) == 0;
    if !fenced && !are_fences_unknown() {
        FENCES.store(REFUSED, Ordering::Relaxed); // it was forbidden meanwhile, or this is a forked child
    }
    fenced
}

/// Makes the kernel refuse `membarrier` to this thread and the threads that it starts. Returns
/// `false` if the kernel has no such filters.
#[cfg(all(test, not(loom)))]
#[expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "small constants; a helper of tests fails as they do"
)]
pub(crate) fn forbid_membarrier() -> bool {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0), // the number of the system call
        libc::sock_filter {
            jf: 1, // another one: allowed
            ..statement(
                libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
                u32::try_from(libc::SYS_membarrier).unwrap(),
            )
        },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned()),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: a program of four statements, which lives as long as the call.
    unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0 }
}

/// Makes the calling thread's timed waits end without the usual 50 µs of slack.
pub(crate) fn small_timer_slack() {
    // SAFETY: takes numbers only.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000) };
}

/// Ends this process as if it had been killed.
#[cfg(all(feature = "kill-points", not(loom)))]
pub(crate) fn kill_this_process() -> ! {
    // Can't fail for ourselves.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    loop {
        std::hint::spin_loop();
    }
}

/// Makes every forked child of this process call the handler first. For [`Once`](std::sync::Once).
pub(crate) fn call_in_children(handler: extern "C" fn()) -> impl FnOnce() {
    move || {
        // SAFETY: the handler is a function that lives as long as the program; none is given for
        // the parent.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(handler)) }; // fails only if no memory is left
    }
}

/// Returns the size of the thread-local variables of the program and the libraries that are loaded,
/// of which each thread has a copy, in bytes.
pub(crate) fn thread_locals() -> usize {
    unsafe extern "C" fn add(
        object: *mut libc::dl_phdr_info,
        _: usize,
        sum: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: `dl_iterate_phdr` passes a loaded object's description, which lives as long as this call.
        let object = unsafe { &*object };
        if !object.dlpi_phdr.is_null() {
            // SAFETY: the object's headers, `dlpi_phnum` of them; it stays loaded during this call.
            let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
            let sizes =
                headers.iter().filter(|header| header.p_type == libc::PT_TLS).map(|header| header.p_memsz);
            // SAFETY: `sum` is the caller's variable, which only this thread uses.
            let sum = unsafe { &mut *sum.cast::<u64>() };
            *sum = sizes.fold(*sum, u64::saturating_add);
        }
        0
    }
    let mut sum = 0u64;
    // SAFETY: `add` is called during this call only, with `sum`.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut sum).cast()) };
    usize::try_from(sum).unwrap_or(usize::MAX)
}
