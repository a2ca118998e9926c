//! The functions of a front end, in the shared library into which its program was compiled.

use crate::callback::ContextOf;
use sinew_c::client::sinew_request_id;
use sinew_c::message_info::sinew_gid;
use sinew_c::qos::sinew_qos;
use sinew_c::service::sinew_request_key;
use sinew_c::subscription::sinew_subscription_statistics;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::transmute_copy;
use std::path::Path;

/// As in C: 0, or a failure.
pub(crate) type Status = i32;

/// A handle of the front end, or the context of one of its callbacks.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Handle(pub(crate) *const c_void);

// SAFETY: handles of the interface may be used on any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) const NULL: Self = Self(std::ptr::null());
}

pub(crate) type Receive = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> Status;
pub(crate) type Elapsed = unsafe extern "C" fn(*mut c_void, *const TimerInfo) -> Status;
pub(crate) type Triggered = unsafe extern "C" fn(*mut c_void, u64) -> Status;
pub(crate) type Passes = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> bool;
pub(crate) type Listener = unsafe extern "C" fn(*mut c_void, u64);
pub(crate) type Request = unsafe extern "C" fn(*mut c_void, *const u8, usize, Handle) -> Status;
pub(crate) type Outcome =
    unsafe extern "C" fn(*mut c_void, Status, *const c_char, *const u8, usize) -> Status;

/// `front_timer_info`.
#[repr(C)]
pub(crate) struct TimerInfo {
    pub(crate) due: i64,
    pub(crate) actual: i64,
    pub(crate) skipped: u64,
    pub(crate) itself: Handle,
}

/// `front_status`.
#[repr(C)]
pub(crate) struct EventStatus {
    pub(crate) numbers: [i64; 4],
    pub(crate) policy: u32,
    pub(crate) reason: *const c_char,
}

/// `front_handler`.
#[repr(C)]
pub(crate) struct Handler {
    pub(crate) event: c_int,
    pub(crate) function: Option<unsafe extern "C" fn(*mut c_void, *const EventStatus) -> Status>,
    pub(crate) context: ContextOf,
}

/// `front_subscription_options`.
#[repr(C)]
pub(crate) struct SubscriptionOptions {
    pub(crate) kind: c_int,
    pub(crate) qos: *const sinew_qos,
    pub(crate) owned: bool,
    pub(crate) ignore_own_publications: bool,
    pub(crate) handler: Handler,
    pub(crate) passes: Option<Passes>,
    pub(crate) passes_context: ContextOf,
    pub(crate) callback: Option<Receive>,
    pub(crate) callback_context: ContextOf,
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// `front.h`.
        pub(crate) struct Functions {
            $($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        /// The names of the functions, without `front_`.
        pub(crate) const NAMES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

        impl Functions {
            /// Loads a library for the life of the process.
            pub(crate) fn load(library: &Path) -> Self {
                let library = Library::open(library, NOW);
                Self { $($name: library.function(concat!("front_", stringify!($name))),)* }
            }

            /// Has the functions at the addresses that are found by their names, in this order.
            pub(crate) fn found_by(mut address: impl FnMut(&str) -> *const c_void) -> Self {
                Self { $($name: as_function(address(stringify!($name))),)* }
            }

            $(#[allow(clippy::too_many_arguments, reason = "as in C")]
            pub(crate) fn $name(&self, $($argument: $type),*) $(-> $result)? {
                // SAFETY: it is declared so in `front.h`; handles are those of this front end.
                unsafe { (self.$name)($($argument),*) }
            })*
        }
    };
}

functions! {
    fn error() -> *const c_char;
    fn failed(sentence: *const c_char) -> Status;
    fn clock_new(clock: &mut Handle) -> Status;
    fn clock_free(clock: Handle);
    fn clock_advance(clock: Handle, nanoseconds: i64);
    fn clock_set(clock: Handle, nanoseconds: i64);
    fn context_new(
        domain: u32, directory: *const c_char, clock: Handle, context: &mut Handle,
    ) -> Status;
    fn context_free(context: Handle);
    fn context_shutdown(context: Handle);
    fn context_is_valid(context: Handle) -> bool;
    fn context_set_ros_time(context: Handle, nanoseconds: i64);
    fn context_clear_ros_time(context: Handle);
    fn context_use_sim_time(context: Handle, wanted: bool) -> Status;
    fn node_new(context: Handle, name: *const c_char, node: &mut Handle) -> Status;
    fn node_free(node: Handle);
    fn group_new(node: Handle, reentrant: bool, group: &mut Handle) -> Status;
    fn group_free(group: Handle);
    fn group_set_priority(group: Handle, priority: i32);
    fn group_pause(group: Handle);
    fn group_resume(group: Handle);
    fn publisher_new(
        node: Handle, topic: *const c_char, kind: i32, qos: &sinew_qos, handler: Handler,
        publisher: &mut Handle,
    ) -> Status;
    fn publisher_free(publisher: Handle);
    fn publisher_publish(publisher: Handle, bytes: *const u8, length: usize) -> Status;
    fn publisher_subscription_count(publisher: Handle) -> usize;
    fn publisher_published(publisher: Handle) -> u64;
    fn publisher_assert_liveliness(publisher: Handle);
    fn publisher_gid(publisher: Handle, gid: &mut sinew_gid);
    fn subscription_new(
        node: Handle, group: Handle, topic: *const c_char, options: &SubscriptionOptions,
        subscription: &mut Handle,
    ) -> Status;
    fn subscription_free(subscription: Handle);
    fn subscription_close(subscription: Handle);
    fn subscription_take(
        subscription: Handle, receive: Receive, context: Handle, publisher: &mut sinew_gid,
        taken: &mut bool,
    ) -> Status;
    fn subscription_set_listener(subscription: Handle, listener: Listener, context: ContextOf);
    fn subscription_publisher_count(subscription: Handle) -> usize;
    fn subscription_statistics(subscription: Handle, statistics: &mut sinew_subscription_statistics);
    fn simulator_new(node: Handle, start: i64, simulator: &mut Handle) -> Status;
    fn simulator_free(simulator: Handle);
    fn simulator_publish(simulator: Handle) -> Status;
    fn simulator_step(simulator: Handle, nanoseconds: i64) -> Status;
    fn timer_new(
        node: Handle, group: Handle, period: i64, clock: i32, callback: Elapsed, context: ContextOf,
        timer: &mut Handle,
    ) -> Status;
    fn timer_free(timer: Handle);
    fn timer_close(timer: Handle);
    fn timer_cancel(timer: Handle);
    fn timer_reset(timer: Handle);
    fn timer_skipped(timer: Handle) -> u64;
    fn timer_clock(timer: Handle) -> i32;
    fn timer_info_cancel(info: Handle);
    fn guard_new(
        node: Handle, group: Handle, callback: Triggered, context: ContextOf, guard: &mut Handle,
    ) -> Status;
    fn guard_free(guard: Handle);
    fn guard_close(guard: Handle);
    fn guard_trigger(guard: Handle);
    fn server_new(
        node: Handle, group: Handle, name: *const c_char, max_requests: usize, callback: Request,
        context: ContextOf, server: &mut Handle,
    ) -> Status;
    fn server_free(server: Handle);
    fn server_answered(server: Handle) -> u64;
    fn respond(responder: Handle, bytes: *const u8, length: usize) -> Status;
    fn fail(responder: Handle, text: *const c_char) -> Status;
    fn responder_free(responder: Handle);
    fn pulled_new(node: Handle, name: *const c_char, server: &mut Handle) -> Status;
    fn pulled_free(server: Handle);
    fn pulled_close(server: Handle);
    fn pulled_set_listener(server: Handle, listener: Listener, context: ContextOf);
    fn pulled_take(
        server: Handle, receive: Receive, context: Handle, key: &mut sinew_request_key, taken: &mut bool,
    ) -> Status;
    fn pulled_respond(server: Handle, key: &sinew_request_key, bytes: *const u8, length: usize) -> Status;
    fn client_new(node: Handle, group: Handle, name: *const c_char, client: &mut Handle) -> Status;
    fn client_free(client: Handle);
    fn client_wait_for_server(client: Handle, timeout: i64) -> bool;
    fn client_call(
        client: Handle, bytes: *const u8, length: usize, timeout: i64, receive: Receive,
        context: Handle,
    ) -> Status;
    fn client_call_then(
        client: Handle, bytes: *const u8, length: usize, result: Outcome, context: ContextOf,
    ) -> Status;
    fn client_call_immediately(
        client: Handle, bytes: *const u8, length: usize, result: Outcome, context: ContextOf,
        id: &mut sinew_request_id,
    ) -> Status;
    fn client_give_up(client: Handle, id: &sinew_request_id);
    fn client_send(client: Handle, bytes: *const u8, length: usize, id: &mut sinew_request_id) -> Status;
    fn client_set_listener(client: Handle, listener: Listener, context: ContextOf);
    fn client_take(
        client: Handle, result: Outcome, context: Handle, id: &mut sinew_request_id, taken: &mut bool,
    ) -> Status;
    fn executor_new(threads: usize, on_error: i32, executor: &mut Handle) -> Status;
    fn executor_free(executor: Handle);
    fn executor_add_context(executor: Handle, context: Handle) -> Status;
    fn executor_add_node(executor: Handle, node: Handle) -> Status;
    fn executor_add_group(executor: Handle, group: Handle) -> Status;
    fn executor_spin(executor: Handle) -> Status;
    fn executor_spin_some(executor: Handle) -> Status;
    fn executor_spin_all(executor: Handle, max: i64) -> Status;
    fn executor_advance(executor: Handle, nanoseconds: i64) -> Status;
    fn executor_descriptor(executor: Handle, descriptor: &mut i32) -> Status;
    fn executor_stop_handle(executor: Handle, stop: &mut Handle) -> Status;
    fn set_new(on_error: i32, set: &mut Handle) -> Status;
    fn set_free(set: Handle);
    fn set_add_context(set: Handle, context: Handle) -> Status;
    fn set_add_node(set: Handle, node: Handle) -> Status;
    fn set_add_group(set: Handle, group: Handle) -> Status;
    fn set_add_subscription(set: Handle, subscription: Handle) -> Status;
    fn set_wait(set: Handle, timeout: i64, count: &mut usize) -> Status;
    fn set_run(set: Handle, index: usize) -> Status;
    fn set_is_subscription(set: Handle, index: usize, subscription: Handle) -> bool;
    fn set_stop_handle(set: Handle, stop: &mut Handle) -> Status;
    fn stop(stop: Handle);
    fn stop_free(stop: Handle);
}

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// `RTLD_NOW`.
const NOW: c_int = 2;
/// `RTLD_GLOBAL`.
const FOR_ALL: c_int = 0x100;

pub(crate) struct Library(*mut c_void);

impl Library {
    /// Opens a library for the life of the process: later libraries find its functions as well.
    pub(crate) fn open_for_all(path: &Path) -> Self {
        Self::open(path, NOW | FOR_ALL)
    }

    fn open(path: &Path, flags: c_int) -> Self {
        let name = CString::new(path.as_os_str().as_encoded_bytes()).expect("a path");
        // SAFETY: a path that ends with a NUL.
        let library = unsafe { dlopen(name.as_ptr(), flags) };
        if library.is_null() {
            // SAFETY: no arguments.
            let error = unsafe { dlerror() };
            // SAFETY: there was an error just now, so it is a text.
            panic!("{}", unsafe { CStr::from_ptr(error) }.to_string_lossy());
        }
        Self(library)
    }

    /// Finds a function of the type that the caller says.
    pub(crate) fn function<F: Copy>(&self, name: &str) -> F {
        let symbol = CString::new(name).expect("a name");
        // SAFETY: an open library, and a name that ends with a NUL.
        let function = unsafe { dlsym(self.0, symbol.as_ptr()) };
        assert!(!function.is_null(), "the library has no {name}");
        as_function(function)
    }
}

/// Returns a function of the type that the caller says.
fn as_function<F: Copy>(address: *const c_void) -> F {
    assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    assert!(!address.is_null(), "a function is missing");
    // SAFETY: a pointer to a function, as `front.h` or the library declares it.
    unsafe { transmute_copy(&address) }
}

thread_local! {
    static FRONT: Cell<Option<&'static Functions>> = const { Cell::new(None) };
}

/// Chooses the front end of a scenario on this thread.
pub(crate) fn choose(front: &'static Functions) {
    FRONT.set(Some(front));
}

/// The front end of the scenario that this thread plays.
pub(crate) fn front() -> &'static Functions {
    FRONT.get().expect("a scenario is played")
}
