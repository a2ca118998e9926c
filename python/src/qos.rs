//! QoS: `sinew.QoSProfile`, with the numbers of ROS 2.

use crate::error::QoSError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sinew::QoS;
use sinew::qos::{Durability, History, Liveliness, Policy, Reliability};
use std::time::Duration;

/// History, depth, reliability, durability, lifespan, deadline, liveliness, lease; the most
/// messages that an entity holds (0: as the history says), and the longest time that publishing may
/// wait for room. Durations are in nanoseconds, 0 for none.
pub(crate) type Parts = (u8, usize, u8, u8, u64, u64, u8, u64, usize, u64);

/// Makes the QoS of a `QoSProfile`, or of a depth.
pub(crate) fn qos(profile: &Bound<'_, PyAny>) -> PyResult<QoS> {
    if let Ok(depth) = profile.extract::<usize>() {
        return Ok(QoS::new().keep_last(depth));
    }
    if !profile.hasattr("_parts")? {
        let text = profile.repr()?;
        return Err(match profile.extract::<i64>() {
            Ok(_) => {
                PyValueError::new_err(format!("a depth of {text} is no QoS: it is a number of messages"))
            }
            Err(_) => PyTypeError::new_err(format!("a QoS is a QoSProfile or a depth, not {text}")),
        });
    }
    let parts: Parts = profile.call_method0("_parts")?.extract()?;
    let (history, depth, reliability, durability, lifespan, deadline, liveliness, lease, most, wait) = parts;
    let unknown =
        |what: &str, number: u8| QoSError::new_err(format!("a {what} of {number} can't be asked for"));
    let mut qos = match history {
        0 | 1 => QoS::new().keep_last(depth),
        2 => QoS::new().keep_all(),
        other => return Err(unknown("history", other)),
    };
    qos = match reliability {
        0 | 1 => qos.reliable(),
        2 => qos.best_effort(),
        4 => qos.best_available_for(Policy::Reliability),
        other => return Err(unknown("reliability", other)),
    };
    qos = match durability {
        0 | 2 => qos.volatile(),
        1 => qos.transient_local(),
        4 => qos.best_available_for(Policy::Durability),
        other => return Err(unknown("durability", other)),
    };
    qos = match liveliness {
        0 | 1 => qos,
        3 => qos.liveliness(Liveliness::ManualByTopic),
        5 => qos.best_available_for(Policy::Liveliness),
        other => return Err(unknown("liveliness", other)),
    };
    let some = |nanoseconds: u64| (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds));
    if let Some(lifespan) = some(lifespan) {
        qos = qos.lifespan(lifespan);
    }
    if let Some(deadline) = some(deadline) {
        qos = qos.deadline(deadline);
    }
    if let Some(lease) = some(lease) {
        qos = qos.lease(lease);
    }
    if most > 0 {
        qos = qos.max_samples(most);
    }
    Ok(qos.max_blocking_time(Duration::from_nanos(wait)))
}

/// Returns the parts of a QoS, from which Python makes a `QoSProfile`.
pub(crate) fn parts(qos: &QoS) -> Parts {
    let (history, depth) = match qos.history {
        History::KeepLast(depth) => (1, depth),
        History::KeepAll => (2, 0),
    };
    let reliability = match qos.reliability {
        Reliability::Reliable => 1,
        Reliability::BestEffort => 2,
    };
    let durability = match qos.durability {
        Durability::TransientLocal => 1,
        _ => 2,
    };
    let liveliness = match qos.liveliness {
        Liveliness::ManualByTopic => 3,
        _ => 1,
    };
    let nanoseconds =
        |span: Option<Duration>| span.map_or(0, |span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
    let (lifespan, deadline) = (nanoseconds(qos.lifespan), nanoseconds(qos.deadline));
    let (lease, wait) = (nanoseconds(qos.lease), nanoseconds(Some(qos.max_blocking_time)));
    let most = qos.max_samples.unwrap_or(0);
    (history, depth, reliability, durability, lifespan, deadline, liveliness, lease, most, wait)
}

/// Checks a profile, and returns its parts.
#[pyfunction]
pub(crate) fn check_qos(profile: &Bound<'_, PyAny>) -> PyResult<Parts> {
    Ok(parts(&qos(profile)?))
}

/// Returns why a publisher and a subscription with these profiles don't match; `None` if they do.
#[pyfunction]
pub(crate) fn qos_incompatibility(
    publisher: &Bound<'_, PyAny>,
    subscription: &Bound<'_, PyAny>,
) -> PyResult<Option<String>> {
    let reason = qos(publisher)?.incompatibility(&qos(subscription)?);
    Ok(reason.map(|reason| reason.to_string()))
}
