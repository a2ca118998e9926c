//! Managed nodes: ROS 2's lifecycle.

use crate::array::array;
use crate::group::sinew_group_options;
use crate::group::{GroupHandle, SINEW_GROUP_MUTUALLY_EXCLUSIVE, SINEW_GROUP_REENTRANT, sinew_group};
use crate::handle::{self, handle};
use crate::lifecycle_callbacks::{Callbacks, sinew_lifecycle_callbacks};
use crate::lifecycle_state::{sinew_lifecycle_state, sinew_lifecycle_transition, transition_of};
use crate::node::sinew_node;
use crate::owned::{Owned, sinew_drop};
use crate::publisher::sinew_publisher;
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::structure;
use sinew_lifecycle::{GRAPH, LifecycleNode, PublishGate, State};
use std::ffi::c_void;

/// The management of a node: its state, the callbacks of its transitions, and the services with
/// which others see and change the state, as those of ROS 2's `LifecycleNode`.
pub struct sinew_lifecycle_node {
    _opaque: (),
}
handle!(sinew_lifecycle_node: LifecycleNode<Callbacks>);

/// Decides whether a publisher of a managed node publishes.
pub struct sinew_publish_gate {
    _opaque: (),
}
handle!(sinew_publish_gate: GateHandle);

/// A gate with the topic of its publisher.
pub(crate) struct GateHandle {
    gate: PublishGate,
    topic: String,
}

/// Manages a node, which is unconfigured at first.
///
/// The service `~/change_state` runs in a callback group of its own; those that only tell the state
/// answer on the thread that receives the request. `callbacks` is copied; null: all transitions
/// succeed. `callback_context` is the first argument of all of them; `drop_context` may be null,
/// otherwise it is called once with it: when the management has ended, or at once if this fails.
/// The caller frees `*lifecycle` with `sinew_lifecycle_node_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_node_new(
    node: *const sinew_node,
    callbacks: *const sinew_lifecycle_callbacks,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    lifecycle: Option<&mut *mut sinew_lifecycle_node>,
) -> sinew_status {
    status(|| {
        let context = Owned::new(callback_context, drop_context);
        // SAFETY: the caller's handle.
        let node = &unsafe { handle::get(node, "node") }?.node;
        // SAFETY: the caller's structure.
        let callbacks = Callbacks::new(unsafe { structure(callbacks) }?, context);
        handle::put(lifecycle, "lifecycle", LifecycleNode::new(node, callbacks)?)
    })
}

/// Ends the management, without a callback; null is allowed. A callback may still run on another
/// thread: `sinew_lifecycle_node_close` waits for it. The node remains.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_node_free(lifecycle: *mut sinew_lifecycle_node) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(lifecycle, "lifecycle") };
}

/// Ends the service `~/change_state`, and waits for a callback of it that runs on another thread.
/// Called in a callback of the node it doesn't wait. The handle remains to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_node_close(lifecycle: *const sinew_lifecycle_node) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(lifecycle, "lifecycle") }?.close();
        Ok(())
    })
}

/// Returns the state; during a transition that of the transition. 0 after a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_node_state(
    lifecycle: *const sinew_lifecycle_node,
) -> sinew_lifecycle_state {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(lifecycle, "lifecycle") }?.state().id().into()))
}

/// Makes a transition on the calling thread, with its callback. `state` may be null; otherwise
/// `*state` is the state that it has led to, also after a failure.
///
/// Fails with `SINEW_ERROR_TRANSITION_NOT_ALLOWED` if the transition can't begin now, for example
/// because another one is going on, and with `SINEW_ERROR_TRANSITION_FAILED` if the callback didn't
/// succeed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_node_change(
    lifecycle: *const sinew_lifecycle_node,
    transition: sinew_lifecycle_transition,
    state: Option<&mut sinew_lifecycle_state>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let lifecycle = unsafe { handle::get(lifecycle, "lifecycle") }?;
        let transition = transition_of(transition)?;
        let changed = lifecycle.change(transition);
        if let Some(place) = state {
            *place = lifecycle.state().id().into();
        }
        changed?;
        Ok(())
    })
}

/// A step from a state to another: what ROS 2 calls a transition.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_lifecycle_step {
    /// Its number in `lifecycle_msgs/msg/Transition`.
    pub id: sinew_lifecycle_transition,
    /// Where it begins.
    pub start: sinew_lifecycle_state,
    /// Where it ends.
    pub goal: sinew_lifecycle_state,
}

/// Gets the steps that lead out of a state, or all if the state is 0. Returns their number; of more
/// than `capacity` the first ones are written. `steps` may be null if the capacity is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_steps(
    state: sinew_lifecycle_state,
    steps: *mut sinew_lifecycle_step,
    capacity: usize,
) -> usize {
    answer(0, || {
        // SAFETY: the caller's array; only its length is looked at.
        unsafe { array(steps.cast::<u8>().cast_const(), capacity.min(1), "steps") }?;
        let is_wanted = |start: State| state == 0 || sinew_lifecycle_state::from(start.id()) == state;
        let found = GRAPH.iter().filter(|step| is_wanted(step.start));
        let found: Vec<sinew_lifecycle_step> = found
            .map(|step| sinew_lifecycle_step {
                id: step.id.into(),
                start: step.start.id().into(),
                goal: step.goal.id().into(),
            })
            .collect();
        for (place, step) in found.iter().take(capacity).enumerate() {
            // SAFETY: within the caller's array.
            let place = unsafe { steps.add(place) };
            // SAFETY: as above.
            unsafe { place.write(*step) };
        }
        Ok(found.len())
    })
}

/// Makes a callback group with callbacks that run only while the node is active. Its subscriptions
/// and timers begin anew with each activation; requests wait.
///
/// `options` may be null. The caller frees `*group` with `sinew_group_free`; entities keep their
/// group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_lifecycle_node_group_new(
    lifecycle: *const sinew_lifecycle_node,
    options: *const sinew_group_options,
    group: Option<&mut *mut sinew_group>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(lifecycle, "lifecycle") }?.node();
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let made = match options.kind {
            SINEW_GROUP_MUTUALLY_EXCLUSIVE => {
                GroupHandle::MutuallyExclusive(node.managed_group(()).priority(options.priority))
            }
            SINEW_GROUP_REENTRANT => {
                GroupHandle::Reentrant(node.managed_reentrant_group().priority(options.priority))
            }
            other => return Err(Failure::enumerator("kind", other)),
        };
        handle::put(group, "group", made)
    })
}

/// Makes a gate for a publisher of the node, which is asked before each message whether to publish
/// it: from the begin of the activation to the end of the deactivation. The caller frees `*gate`
/// with `sinew_publish_gate_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publish_gate_new(
    lifecycle: *const sinew_lifecycle_node,
    publisher: *const sinew_publisher,
    gate: Option<&mut *mut sinew_publish_gate>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(lifecycle, "lifecycle") }?.node();
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        let topic = publisher.topic().to_owned();
        handle::put(gate, "gate", GateHandle { gate: node.publish_gate(), topic })
    })
}

/// Frees a gate; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publish_gate_free(gate: *mut sinew_publish_gate) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(gate, "gate") };
}

/// Returns whether a message is to be published now. If not, the caller drops it: it is counted,
/// and the first one after each deactivation logs a warning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publish_gate_admits(gate: *const sinew_publish_gate) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let GateHandle { gate, topic } = unsafe { handle::get(gate, "gate") }?;
        Ok(gate.admits(topic))
    })
}

/// Returns the number of messages that were not admitted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publish_gate_dropped(gate: *const sinew_publish_gate) -> u64 {
    answer(0, || -> Result<u64> {
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(gate, "gate") }?.gate.dropped())
    })
}
