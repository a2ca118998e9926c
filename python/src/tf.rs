//! tf2: the poses of frames in each other. Messages come and go in encoded form.

use crate::error::raise;
use crate::message::UndecodableError;
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg;
use sinew_msg::Message;
use sinew_tf::{
    At, Buffer, LookupError, PendingTransform, StampedTransform, Transform, TransformableStamped,
};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Decodes a message.
fn decode<T: Message>(bytes: &[u8]) -> PyResult<T> {
    let encoding = T::ENCODING.ok_or_else(|| PyTypeError::new_err("this type has no encoded form"))?;
    (encoding.decode)(bytes).map_err(|error| UndecodableError::new_err(error.to_string()))
}

/// Encodes a message.
fn encode<'py, T: Message>(py: Python<'py>, message: &T) -> PyResult<Bound<'py, PyBytes>> {
    let encoding = T::ENCODING.ok_or_else(|| PyTypeError::new_err("this type has no encoded form"))?;
    PyBytes::new_with(py, (encoding.size)(message), |bytes| {
        (encoding.encode)(message, bytes);
        Ok(())
    })
}

fn decode_all(transforms: &[Bound<'_, PyBytes>]) -> PyResult<Vec<msg::TransformStamped>> {
    transforms.iter().map(|bytes| decode(bytes.as_bytes())).collect()
}

fn at(nanoseconds: i64) -> At {
    At::from(Time::from_nanoseconds(nanoseconds))
}

/// Frames, and their transforms over the last seconds.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct TfBuffer(Buffer);

#[pymethods]
impl TfBuffer {
    /// `history`: in seconds.
    #[new]
    #[pyo3(signature = (history=None))]
    fn new(history: Option<f64>) -> PyResult<Self> {
        let builder = Buffer::builder();
        let history = wait::duration(history)?;
        Ok(Self(history.map_or(builder, |history| builder.history(history)).build()))
    }

    /// Adds a `TransformStamped`.
    fn insert(&self, transform: &Bound<'_, PyBytes>, authority: &str, is_static: bool) -> PyResult<()> {
        let message = decode(transform.as_bytes())?;
        let inserted = wait::detached(transform.py(), || {
            if is_static {
                self.0.insert_static(&message, authority)
            } else {
                self.0.insert(&message, authority)
            }
        });
        inserted.map(drop).map_err(raise)
    }

    /// Returns the `TransformStamped` from the second frame to the first at a time in nanoseconds,
    /// 0 is the latest. Waits for it for at most `timeout` seconds, or until a context is shut
    /// down.
    #[pyo3(signature = (frames, time, timeout, context=None))]
    #[expect(clippy::too_many_arguments, reason = "two frames, a time, and the end of the wait")]
    fn lookup<'py>(
        &self,
        py: Python<'py>,
        frames: (String, String),
        time: i64,
        timeout: f64,
        context: Option<&crate::context::Context>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (target, source) = (frames.0.as_str(), frames.1.as_str());
        let pending = || vec![self.0.wait_for(target, source, at(time))];
        let found = waited(py, (timeout, context), pending, || self.0.lookup(target, source, at(time)))?;
        encode(py, &found.map_err(raise)?.to_msg(target, source))
    }

    /// As `lookup`, for two times and a frame that rests between them.
    #[expect(clippy::too_many_arguments, reason = "two frames at two times, and a third")]
    #[pyo3(signature = (target, target_time, source, source_time, fixed, timeout, context=None))]
    fn lookup_over_time<'py>(
        &self,
        py: Python<'py>,
        target: &str,
        target_time: i64,
        source: &str,
        source_time: i64,
        fixed: &str,
        timeout: f64,
        context: Option<&crate::context::Context>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (first, second) = (at(source_time), at(target_time));
        let pending = || vec![self.0.wait_for(fixed, source, first), self.0.wait_for(target, fixed, second)];
        let found = waited(py, (timeout, context), pending, || {
            self.0.lookup_over_time((target, second), (source, first), fixed)
        })?;
        encode(py, &found.map_err(raise)?.to_msg(target, source))
    }

    /// Calls `done` once there is a transform, with `None`, or once there can't be one any more,
    /// with the exception: on the thread that inserts, or now.
    fn call_when_there(
        &self,
        py: Python<'_>,
        frames: (String, String),
        time: i64,
        done: Py<PyAny>,
    ) -> PendingLookup {
        let pending = self.0.wait_for(&frames.0, &frames.1, at(time));
        let state = Mutex::new(Some((pending, done)));
        let waiting = Arc::new(Waiting { state, wakes: AtomicUsize::new(0) });
        wait::detached(py, || waiting.poll());
        PendingLookup(waiting)
    }

    fn clear(&self) {
        self.0.clear();
    }

    /// The frames: name, parent, whether it is static, the first and last stamp in nanoseconds, the
    /// number of transforms and their sender.
    fn frames(&self) -> Vec<FrameParts> {
        let range = |range: Option<[Time; 2]>| range.map(|range| range.map(|time| time.nanoseconds()));
        let frames = self.0.frames().into_iter();
        frames
            .map(|one| (one.name, one.parent, one.is_static, range(one.range), one.samples, one.authority))
            .collect()
    }
}

type FrameParts = (String, Option<String>, bool, Option<[i64; 2]>, usize, String);

/// Looks up. If that fails, waits for at most `timeout` seconds until it can succeed, or never
/// will, and looks up again.
fn waited(
    py: Python<'_>,
    (timeout, context): (f64, Option<&crate::context::Context>),
    pending: impl FnOnce() -> Vec<PendingTransform>,
    look: impl Fn() -> Result<StampedTransform, LookupError>,
) -> PyResult<Result<StampedTransform, LookupError>> {
    let found = look();
    if found.is_ok() || timeout <= 0.0 {
        return Ok(found);
    }
    let end = wait::end(Some(timeout))?;
    let is_shut_down = || context.is_some_and(|context| context.context.is_shutdown());
    for mut one in pending() {
        wait::sliced_unless(py, &is_shut_down, end, |slice| {
            sinew::executor::wait_for(&mut one, slice).is_some()
        })?;
    }
    Ok(look())
}

/// A lookup that waits until it is over or given up.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct PendingLookup(Arc<Waiting>);

#[pymethods]
impl PendingLookup {
    fn give_up(&self) {
        let state = self.0.state.lock().take();
        drop(state); // not under the lock
    }
}

struct Waiting {
    state: Mutex<Option<(PendingTransform, Py<PyAny>)>>,
    /// Number of wakes that the thread that polls has not seen.
    wakes: AtomicUsize,
}

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.poll();
    }
}

impl Waiting {
    /// Polls on this thread; if another one does, that one polls once more.
    fn poll(self: &Arc<Self>) {
        let mut seen = self.wakes.fetch_add(1, Ordering::AcqRel) + 1;
        if seen > 1 {
            return;
        }
        let waker = Waker::from(Arc::clone(self));
        loop {
            let over = {
                let mut state = self.state.lock();
                let Some((pending, _)) = &mut *state else { return };
                let polled = Pin::new(pending).poll(&mut Context::from_waker(&waker));
                polled.is_ready().then(|| (polled, state.take()))
            };
            if let Some((Poll::Ready(found), Some((pending, done)))) = over {
                drop(pending);
                give(found, &done);
                return;
            }
            // AcqRel: a wake that is not seen here begins a poll of its own.
            match self.wakes.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(more) => seen = more,
            }
        }
    }
}

/// Notifies Python that a transform is there, or never will be.
fn give(found: Result<StampedTransform, LookupError>, done: &Py<PyAny>) {
    wait::attached(|py| {
        let given = match found {
            Ok(_) => done.call1(py, (py.None(),)),
            Err(error) => done.call1(py, (raise(error),)),
        };
        if let Err(error) = given {
            error.write_unraisable(py, Some(done.bind(py)));
        }
    });
}

/// Fills a buffer from `/tf` and `/tf_static`, on the threads that deliver messages.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct TfListener(Mutex<Option<sinew_tf::TransformListener>>);

#[pymethods]
impl TfListener {
    #[new]
    fn new(py: Python<'_>, node: &Node, buffer: &TfBuffer) -> PyResult<Self> {
        let node = node.get()?;
        let made = wait::detached(py, || sinew_tf::TransformListener::new(&node, &buffer.0));
        Ok(Self(Mutex::new(Some(made.map_err(raise)?))))
    }

    fn destroy(&self, py: Python<'_>) {
        let listener = self.0.lock().take();
        wait::detached(py, || drop(listener));
    }
}

/// Publishes the transforms of moving frames, or of fixed ones.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct TfBroadcaster(Mutex<Option<Arc<Kind>>>);

enum Kind {
    Moving(sinew_tf::TransformBroadcaster),
    Fixed(sinew_tf::StaticTransformBroadcaster),
}

#[pymethods]
impl TfBroadcaster {
    #[new]
    fn new(py: Python<'_>, node: &Node, is_static: bool) -> PyResult<Self> {
        let node = node.get()?;
        let made = wait::detached(py, || {
            Ok(if is_static {
                Kind::Fixed(sinew_tf::StaticTransformBroadcaster::new(&node)?)
            } else {
                Kind::Moving(sinew_tf::TransformBroadcaster::new(&node)?)
            })
        });
        let made = made.map_err(|error: sinew::error::CreateError| raise(error))?;
        Ok(Self(Mutex::new(Some(Arc::new(made)))))
    }

    /// Publishes `TransformStamped` messages.
    fn send(&self, py: Python<'_>, transforms: Vec<Bound<'_, PyBytes>>) -> PyResult<()> {
        let transforms = decode_all(&transforms)?;
        let kind = self.0.lock().clone();
        let kind = kind.ok_or_else(|| crate::publisher::destroyed("broadcaster", "tf"))?;
        let sent = wait::detached(py, || match &*kind {
            Kind::Moving(broadcaster) => broadcaster.send(transforms),
            Kind::Fixed(broadcaster) => broadcaster.send(transforms),
        });
        sent.map_err(raise)
    }

    fn destroy(&self, py: Python<'_>) {
        let kind = self.0.lock().take();
        wait::detached(py, || drop(kind));
    }
}

/// Returns a stamped message in another frame, by a `TransformStamped` to that frame.
#[pyfunction]
pub(crate) fn transform_stamped<'py>(
    py: Python<'py>,
    name: &str,
    message: &[u8],
    transform: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let by: msg::TransformStamped = decode(transform)?;
    let target = by.header.frame_id;
    let by = StampedTransform { stamp: by.header.stamp.into(), transform: Transform::from(by.transform) };
    macro_rules! any_of {
        ($($of:ident),*) => {
            match name {
                $(concat!("geometry_msgs/msg/", stringify!($of)) => in_frame::<msg::$of>(py, message, &target, &by),)*
                _ => Err(PyTypeError::new_err(format!(
                    "a {name} can't be transformed: {} can, of geometry_msgs",
                    [$(stringify!($of)),*].join(", ")
                ))),
            }
        };
    }
    any_of!(
        PointStamped,
        PolygonStamped,
        PoseArray,
        PoseStamped,
        PoseWithCovarianceStamped,
        QuaternionStamped,
        TwistStamped,
        Vector3Stamped,
        WrenchStamped
    )
}

fn in_frame<'py, T: TransformableStamped + Message>(
    py: Python<'py>,
    message: &[u8],
    target: &str,
    by: &StampedTransform,
) -> PyResult<Bound<'py, PyBytes>> {
    encode(py, &decode::<T>(message)?.in_frame(target, by))
}
