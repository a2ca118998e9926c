//! A process's place among the names of a domain.

use super::channel::{Channel, Opened, Plan};
use super::claim::claim;
use super::declared::{Declared, Role};
use super::error::OpenError;
use super::registry::Registry;
use super::waiter::Waiter;
use crate::domain::Domain;
use crate::error::{CapacityError, JoinError};
use crate::participant::Participant;
use crate::sync::{Arc, Mutex, Ordering, PlainU64};
use std::fmt;
use std::sync::Weak;

/// A process's place among the names of a domain: what topics, queues and variables are opened in.
///
/// Programs seldom need one: what is opened without lives in the default one, that of `$SINEW_DIR`
/// and `$SINEW_DOMAIN_ID` (else `$ROS_DOMAIN_ID`, else 0). It is joined with the first handle, and
/// left with the last one.
///
/// A clone is the same space. It lives as long as a clone, or anything opened in it. After a `fork`
/// the child joins anew.
///
/// ```
/// use sinew_shm::{Domain, raw::{Space, Variable}};
/// let base = tempfile::tempdir_in("/dev/shm")?;
/// let space = Space::join(&Domain::open(Some(base.path()), 0)?)?;
/// let master = Variable::master_in(&space, "gains", &[1.0f32, 0.1, 0.0])?;
/// let mut gains = Variable::<[f32; 3]>::open_in(&space, "gains")?;
/// assert_eq!(gains.read()?.map(|found| found.value), Some([1.0, 0.1, 0.0]));
/// # drop(master);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Space(Arc<Membership>);

/// What the space's clones and all that is open in it share, and nobody else: it is left when the
/// last one is dropped, on that thread.
struct Membership(Arc<Inner>);

impl Drop for Membership {
    fn drop(&mut self) {
        self.0.participant.leave();
    }
}

pub(super) struct Inner {
    pub(super) participant: Arc<Participant>,
    pub(super) registry: Arc<Registry>,
    /// One name is opened at a time.
    opening: Mutex<()>,
    waiters: Mutex<Vec<Weak<Waiter>>>,
    /// Of entities.
    numbers: PlainU64,
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Space({:?})", self.inner().participant)
    }
}

/// The space of what is opened without one, while there is anything.
static DEFAULT: std::sync::LazyLock<Mutex<Weak<Membership>>> = std::sync::LazyLock::new(Mutex::default);

impl Space {
    /// Joins a domain, as a participant of its own. Others in the same process are to it as those
    /// of other processes.
    ///
    /// Starts a thread, which sleeps while nothing changes. Takes up to a millisecond.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join(domain: &Domain) -> Result<Self, JoinError> {
        let registry = Arc::new(Registry::default());
        let participant = Participant::join(domain, registry.clone())?;
        let inner = Inner {
            participant,
            registry,
            opening: Mutex::default(),
            waiters: Mutex::default(),
            numbers: PlainU64::new(1),
        };
        Ok(Self(Arc::new(Membership(Arc::new(inner)))))
    }

    /// The space of this process that is used where none is given.
    ///
    /// # Errors
    /// [`OpenError`]: the environment is wrong, or the domain can't be joined.
    pub fn shared() -> Result<Self, OpenError> {
        let mut shared = DEFAULT.lock();
        if let Some(member) = shared.upgrade().filter(|member| member.0.participant.check().is_ok()) {
            return Ok(Self(member));
        }
        let space = Self::join(&Domain::open(None, domain_number()?)?)?;
        *shared = Arc::downgrade(&space.0);
        Ok(space)
    }

    /// What [`Origin::writer`](super::Origin::writer) says of values that are written in this
    /// space.
    pub fn id(&self) -> u64 {
        self.inner().participant.id()
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.0.0
    }

    /// The channel of a name; opened if it isn't yet.
    pub(super) fn channel(&self, declared: Declared, plan: Plan) -> Result<Arc<Opened>, OpenError> {
        let inner = self.inner();
        inner.participant.check()?;
        let _opening = inner.opening.lock();
        if let Some(opened) = inner.registry.opened(&declared.name) {
            if opened.declared == declared {
                return Ok(opened);
            }
            return Err(OpenError::InUse {
                name: declared.name.clone(),
                ours: declared.to_string(),
                theirs: opened.declared.to_string(),
                pid: u64::from(std::process::id()),
                program: "this one".to_owned(),
            });
        }
        let name = claim(inner, &declared, Role::Name)?;
        let channel = Arc::new(Channel::new(inner.clone(), declared, plan, name));
        let opened = Arc::new(Opened::new(self, channel));
        inner.registry.add_channel(&opened);
        Ok(opened)
    }
}

fn domain_number() -> Result<u32, OpenError> {
    for variable in ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"] {
        let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else { continue };
        let value = value.to_string_lossy().into_owned();
        return value.trim().parse().map_err(|_| OpenError::DomainNumber { variable, value });
    }
    Ok(0)
}

impl Inner {
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) // each is its own
    }

    /// Something for a reading handle to sleep on. A participant has 64 ports at most: handles
    /// beyond share one.
    pub(super) fn waiter(&self) -> Result<Arc<Waiter>, CapacityError> {
        let mut waiters = self.waiters.lock();
        waiters.retain(|waiter| waiter.strong_count() > 0);
        let refused = match Waiter::new(&self.participant) {
            Ok(waiter) => {
                waiters.push(Arc::downgrade(&waiter));
                return Ok(waiter);
            }
            Err(error) => error,
        };
        let shared = waiters.iter().find_map(Weak::upgrade).ok_or(refused)?;
        waiters.rotate_left(1); // the next one gets another
        Ok(shared)
    }
}
