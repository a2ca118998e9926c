//! tf2: the poses of frames in each other.

use crate::array::{Texts, array};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::strings::sinew_strings;
use crate::structure::{Structure, structure};
use crate::text::{optional_text, text};
use crate::time::{sinew_duration, sinew_time, span, timeout};
use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_tf::{
    Buffer, StampedTransform, StaticTransformBroadcaster, Transform, TransformBroadcaster, TransformListener,
};
use std::ffi::c_char;

/// The frames, and their transforms over the last seconds. Any thread may use it; lookups run in
/// parallel and allocate nothing.
pub struct sinew_tf_buffer {
    _opaque: (),
}
handle!(sinew_tf_buffer: Buffer);

/// Fills a buffer from `/tf` and `/tf_static` on the threads that deliver the messages, without an
/// executor. When ROS time jumps back, the buffer is cleared.
pub struct sinew_tf_listener {
    _opaque: (),
}
handle!(sinew_tf_listener: TransformListener);

/// Publishes the transforms of frames: of moving ones on `/tf`, or of fixed ones on `/tf_static`.
pub struct sinew_tf_broadcaster {
    _opaque: (),
}
handle!(sinew_tf_broadcaster: Broadcaster);

/// Both kinds of broadcasters.
pub(crate) enum Broadcaster {
    Moving(TransformBroadcaster),
    Fixed(StaticTransformBroadcaster),
}

/// A rotation, then a translation: the pose of a frame in another one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_transform {
    /// x, y and z in m.
    pub translation: [f64; 3],
    /// A unit quaternion: x, y, z and w.
    pub rotation: [f64; 4],
}

/// The pose of the frame `child` in the frame `parent` at a time. A slash before a name is removed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_stamped_transform {
    /// The frame in which the other lies: `header.frame_id`.
    pub parent: *const c_char,
    /// The frame: `child_frame_id`.
    pub child: *const c_char,
    /// When.
    pub stamp: sinew_time,
    /// From the child's coordinates to those of the parent.
    pub transform: sinew_transform,
}

/// The options of [`sinew_tf_buffer_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_tf_buffer_options {
    /// `sizeof(struct sinew_tf_buffer_options)`.
    pub size: usize,
    /// How long a frame's transforms are kept before its latest one. 0: 10 s.
    pub history: sinew_duration,
    /// The most transforms of a frame, of 72 bytes each. 0: 100,000.
    pub max_samples: usize,
    /// The most frames. 0: 10,000.
    pub max_frames: usize,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers.
unsafe impl Structure for sinew_tf_buffer_options {
    const NAME: &str = "sinew_tf_buffer_options";
}

/// Makes a buffer. `options` may be null. The caller frees `*buffer` with `sinew_tf_buffer_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_new(
    options: *const sinew_tf_buffer_options,
    buffer: Option<&mut *mut sinew_tf_buffer>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let mut builder = Buffer::builder();
        if options.history != 0 {
            builder = builder.history(span(options.history, "history")?);
        }
        if options.max_samples != 0 {
            builder = builder.max_samples(options.max_samples);
        }
        if options.max_frames != 0 {
            builder = builder.max_frames(options.max_frames);
        }
        handle::put(buffer, "buffer", builder.build())
    })
}

/// Frees a handle to a buffer; null is allowed. Listeners keep their buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_free(buffer: *mut sinew_tf_buffer) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(buffer, "buffer") };
}

/// Returns the message of a transform.
///
/// # Safety
/// The names are null, or end with a NUL.
unsafe fn message(transform: &sinew_stamped_transform) -> Result<TransformStamped> {
    // SAFETY: as the caller says.
    let parent = unsafe { text(transform.parent, "parent") }?;
    // SAFETY: as the caller says.
    let child = unsafe { text(transform.child, "child") }?;
    let sinew_transform { translation, rotation } = transform.transform;
    let transform = StampedTransform {
        stamp: Time::from_nanoseconds(transform.stamp),
        transform: Transform { translation, rotation },
    };
    Ok(transform.to_msg(parent, child))
}

/// Adds a transform: at its time, or for all times if it is static. `authority` names its source,
/// for diagnostics; null: nothing does.
///
/// Fails with `SINEW_ERROR_INVALID_FRAME_NAME`, `SINEW_ERROR_FRAME_LOOP` (a frame in itself),
/// `SINEW_ERROR_INVALID_TRANSFORM` (not finite, or no unit quaternion), `SINEW_ERROR_EXTRAPOLATION`
/// (older than what is kept) or `SINEW_ERROR_TOO_MANY_FRAMES`; the buffer is unchanged then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_set(
    buffer: *const sinew_tf_buffer,
    transform: *const sinew_stamped_transform,
    is_static: bool,
    authority: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let buffer = unsafe { handle::get(buffer, "buffer") }?;
        // SAFETY: the caller's structure.
        let transform = unsafe { array(transform, 1, "transform") }?;
        // SAFETY: the caller's texts.
        let message = unsafe { message(&transform[0]) }?;
        // SAFETY: the caller's text.
        let authority = unsafe { optional_text(authority, "authority") }?.unwrap_or_default();
        if is_static {
            buffer.insert_static(&message, authority)?;
        } else {
            buffer.insert(&message, authority)?;
        }
        Ok(())
    })
}

/// Looks a transform up, and waits for it up to the timeout: negative is for ever, 0 not at all.
fn found(
    buffer: &Buffer,
    (target, source): (&str, &str),
    time: sinew_time,
    wait: sinew_duration,
) -> Result<StampedTransform> {
    let at = Time::from_nanoseconds(time);
    Ok(match wait {
        0 => buffer.lookup(target, source, at)?,
        wait => buffer.wait_for(target, source, at).wait(timeout(wait))?,
    })
}

/// Writes a transform where the caller wants it; the stamp is optional.
fn write(
    found: StampedTransform,
    transform: Option<&mut sinew_transform>,
    stamp: Option<&mut sinew_time>,
) -> Result {
    let Transform { translation, rotation } = found.transform;
    if let Some(place) = stamp {
        *place = found.stamp.nanoseconds();
    }
    put(transform, "transform", sinew_transform { translation, rotation })
}

/// Gets the transform from coordinates in the frame `source` to coordinates in the frame `target`
/// at a time, 0: the latest that all frames between them have. Between two stamps it is
/// interpolated; nothing is extrapolated. `stamp` may be null; otherwise `*stamp` is the time of
/// the transform, 0 if all on the way are static.
///
/// Waits for it up to `wait_for`: 0 is not at all, negative is for ever. The thread that adds the
/// missing transform ends the wait.
///
/// Fails with `SINEW_ERROR_UNKNOWN_FRAME`, `SINEW_ERROR_INVALID_FRAME_NAME`,
/// `SINEW_ERROR_NOT_CONNECTED`, `SINEW_ERROR_EXTRAPOLATION` or `SINEW_ERROR_FRAME_LOOP`; the
/// sentence names the frame, link or time that is missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_lookup(
    buffer: *const sinew_tf_buffer,
    target: *const c_char,
    source: *const c_char,
    time: sinew_time,
    wait_for: sinew_duration,
    transform: Option<&mut sinew_transform>,
    stamp: Option<&mut sinew_time>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let buffer = unsafe { handle::get(buffer, "buffer") }?;
        // SAFETY: the caller's text.
        let target = unsafe { text(target, "target") }?;
        // SAFETY: the caller's text.
        let source = unsafe { text(source, "source") }?;
        write(found(buffer, (target, source), time, wait_for)?, transform, stamp)
    })
}

/// A query with two times, for [`sinew_tf_buffer_lookup_over_time`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_tf_query {
    /// `sizeof(struct sinew_tf_query)`.
    pub size: usize,
    /// The frame to whose coordinates the transform leads.
    pub target: *const c_char,
    /// The time of the target. 0: the latest.
    pub target_time: sinew_time,
    /// The frame from whose coordinates it leads.
    pub source: *const c_char,
    /// The time of the source. 0: the latest.
    pub source_time: sinew_time,
    /// The frame that is at rest between the two times.
    pub fixed: *const c_char,
    /// How long it waits for each of both. 0: not at all; negative: for ever.
    pub wait_for: sinew_duration,
}

// SAFETY: C's layout, beginning with the size; zeros are null, numbers.
unsafe impl Structure for sinew_tf_query {
    const NAME: &str = "sinew_tf_query";
}

/// Gets the transform from coordinates in a frame at one time to coordinates in another one at
/// another time, with a third frame at rest: for example the motion of a robot. `stamp` may be
/// null. Fails as `sinew_tf_buffer_lookup`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_lookup_over_time(
    buffer: *const sinew_tf_buffer,
    query: *const sinew_tf_query,
    transform: Option<&mut sinew_transform>,
    stamp: Option<&mut sinew_time>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let buffer = unsafe { handle::get(buffer, "buffer") }?;
        // SAFETY: the caller's structure.
        let query = unsafe { structure(query) }?;
        // SAFETY: the caller's text.
        let target = unsafe { text(query.target, "target") }?;
        // SAFETY: the caller's text.
        let source = unsafe { text(query.source, "source") }?;
        // SAFETY: the caller's text.
        let fixed = unsafe { text(query.fixed, "fixed") }?;
        if query.wait_for != 0 {
            found(buffer, (fixed, source), query.source_time, query.wait_for)?;
            found(buffer, (target, fixed), query.target_time, query.wait_for)?;
        }
        let [target_time, source_time] = [query.target_time, query.source_time].map(Time::from_nanoseconds);
        let both = buffer.lookup_over_time((target, target_time), (source, source_time), fixed)?;
        write(both, transform, stamp)
    })
}

/// Forgets all moving transforms; static ones stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_clear(buffer: *const sinew_tf_buffer) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(buffer, "buffer") }?.clear();
        Ok(())
    })
}

/// Gets the names of all frames, sorted, and of the frame in which each of them lies, an empty text
/// for the root of a tree. The caller frees both; `parents` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_frames(
    buffer: *const sinew_tf_buffer,
    names: Option<&mut *mut sinew_strings>,
    parents: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let frames = unsafe { handle::get(buffer, "buffer") }?.frames();
        let names = names.ok_or_else(|| Failure::null("names"))?;
        let (all, above): (Vec<_>, Vec<_>) =
            frames.into_iter().map(|frame| (frame.name, frame.parent.unwrap_or_default())).unzip();
        if let Some(parents) = parents {
            *parents = handle::new(Texts::new(above));
        }
        *names = handle::new(Texts::new(all));
        Ok(())
    })
}

/// Makes a listener, which subscribes with this node and fills the buffer until it is freed with
/// `sinew_tf_listener_free`. Transforms that the buffer refuses are logged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_listener_new(
    buffer: *const sinew_tf_buffer,
    node: *const sinew_node,
    listener: Option<&mut *mut sinew_tf_listener>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let buffer = unsafe { handle::get(buffer, "buffer") }?;
        // SAFETY: the caller's handle.
        let node = &unsafe { handle::get(node, "node") }?.node;
        handle::put(listener, "listener", TransformListener::new(node, buffer)?)
    })
}

/// Frees a listener; null is allowed. The buffer keeps its transforms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_listener_free(listener: *mut sinew_tf_listener) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(listener, "listener") };
}

/// Makes a broadcaster of moving frames, or of fixed ones if it is static. The caller frees
/// `*broadcaster` with `sinew_tf_broadcaster_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_broadcaster_new(
    node: *const sinew_node,
    is_static: bool,
    broadcaster: Option<&mut *mut sinew_tf_broadcaster>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = &unsafe { handle::get(node, "node") }?.node;
        let made = if is_static {
            Broadcaster::Fixed(StaticTransformBroadcaster::new(node)?)
        } else {
            Broadcaster::Moving(TransformBroadcaster::new(node)?)
        };
        handle::put(broadcaster, "broadcaster", made)
    })
}

/// Frees a broadcaster; null is allowed. Fixed transforms that it sent reach no new listeners.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_broadcaster_free(broadcaster: *mut sinew_tf_broadcaster) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(broadcaster, "broadcaster") };
}

/// Publishes transforms in one message: of a static broadcaster with all that it sent before. Fails
/// as `sinew_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_broadcaster_send(
    broadcaster: *const sinew_tf_broadcaster,
    transforms: *const sinew_stamped_transform,
    count: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let broadcaster = unsafe { handle::get(broadcaster, "broadcaster") }?;
        // SAFETY: the caller's array.
        let transforms = unsafe { array(transforms, count, "transforms") }?;
        // SAFETY: the caller's texts.
        let messages = transforms.iter().map(|transform| unsafe { message(transform) });
        let messages: Vec<_> = messages.collect::<Result<_>>()?;
        match broadcaster {
            Broadcaster::Moving(broadcaster) => broadcaster.send(messages)?,
            Broadcaster::Fixed(broadcaster) => broadcaster.send(messages)?,
        }
        Ok(())
    })
}

/// Returns whether `sinew_tf_buffer_lookup` would succeed, after the same wait. If not, the
/// sentence of the thread's last failure says why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_tf_buffer_can_transform(
    buffer: *const sinew_tf_buffer,
    target: *const c_char,
    source: *const c_char,
    time: sinew_time,
    wait_for: sinew_duration,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let buffer = unsafe { handle::get(buffer, "buffer") }?;
        // SAFETY: the caller's text.
        let target = unsafe { text(target, "target") }?;
        // SAFETY: the caller's text.
        let source = unsafe { text(source, "source") }?;
        found(buffer, (target, source), time, wait_for).map(|_| true)
    })
}
