//! A process's place among the names of a domain.

use super::channel::{Channel, Plan};
use super::claim::claim;
use super::declared::{Declared, Role};
use super::error::OpenError;
use super::member::Member;
use super::registry::Registry;
use crate::error::JoinError;
use crate::participant::Participant;
use crate::platform::logging::later;
use crate::platform::sync::{Arc, Mutex};
use crate::segment::domain::Domain;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Weak;

/// A process's presence among the names of a domain: topics, queues and variables are opened in a
/// space.
///
/// Few programs need one: without one, names are opened in the default space, that of `$SINEW_DIR`
/// and `$SINEW_DOMAIN_ID` (else `$ROS_DOMAIN_ID`, else 0). The process joins the default space with
/// the first handle and leaves it with the last.
///
/// A clone is the same space. The space lives as long as any clone of it, or anything opened in it.
/// After a `fork`, the child joins again.
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
pub struct Space(Arc<SpaceMembership>);

/// Shared by the space's clones and everything opened in it, and by nothing else: the thread that
/// drops the last one leaves the domain.
struct SpaceMembership {
    member: Arc<Member>,
    /// One name is opened at a time.
    opening: Mutex<()>,
    /// By name.
    opened: Mutex<HashMap<String, Weak<Opened>>>,
}

impl Drop for SpaceMembership {
    fn drop(&mut self) {
        self.member.participant.leave();
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Space({:?})", self.member().participant)
    }
}

/// The default space, while anything is open in it.
static DEFAULT: std::sync::LazyLock<Mutex<Weak<SpaceMembership>>> = std::sync::LazyLock::new(Mutex::default);

impl Space {
    /// Joins a domain as a participant of its own, which sees other participants of the same
    /// process like those of other processes.
    ///
    /// Starts a thread, which sleeps while nothing changes. Takes up to a millisecond.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join(domain: &Domain) -> Result<Self, JoinError> {
        let registry = Arc::new(Registry::default());
        let participant = Participant::join(domain, registry.clone())?;
        let member = Arc::new(Member::new(participant, registry));
        Ok(Self(Arc::new(SpaceMembership { member, opening: Mutex::default(), opened: Mutex::default() })))
    }

    /// Returns the default space of this process.
    ///
    /// # Errors
    /// [`OpenError`]: the environment is wrong, or the domain can't be joined.
    pub fn shared() -> Result<Self, OpenError> {
        later(Self::shared_or_joined) // joining may warn
    }

    fn shared_or_joined() -> Result<Self, OpenError> {
        let mut shared = DEFAULT.lock();
        if let Some(joined) = shared.upgrade().filter(|joined| joined.member.participant.check().is_ok()) {
            return Ok(Self(joined));
        }
        let space = Self::join(&Domain::open(None, domain_number()?)?)?;
        *shared = Arc::downgrade(&space.0);
        Ok(space)
    }

    /// Returns the id that [`Origin::writer`](super::Origin::writer) has for values written in this
    /// space.
    pub fn id(&self) -> u64 {
        self.member().participant.id()
    }

    pub(super) fn member(&self) -> &Arc<Member> {
        &self.0.member
    }

    /// The channel of a name; opens it if necessary.
    pub(super) fn channel(&self, declared: Declared, plan: Plan) -> Result<Arc<Opened>, OpenError> {
        later(|| self.find_or_open(declared, plan))
    }

    fn find_or_open(&self, declared: Declared, plan: Plan) -> Result<Arc<Opened>, OpenError> {
        let SpaceMembership { member, opening, opened: all } = &*self.0;
        member.participant.check()?;
        let _opening = opening.lock();
        let opened = all.lock().get(&declared.name).and_then(Weak::upgrade);
        if let Some(opened) = opened {
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
        let claim = claim(member, &declared, Role::Name)?;
        let name = declared.name.clone();
        let channel = Arc::new(Channel::new(member.clone(), declared, plan, claim));
        let opened = Arc::new(Opened { channel: channel.clone(), space: self.clone() });
        let mut all = all.lock();
        all.insert(name.clone(), Arc::downgrade(&opened));
        member.registry.add_channel(name, channel);
        drop(all);
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

/// Shared by the handles of a channel, and by nothing else: the helper thread, which may use the
/// channel at any time, doesn't keep it open. So when the last handle is dropped, its name is free
/// and its written values are gone.
pub(super) struct Opened {
    channel: Arc<Channel>,
    space: Space,
}

impl Opened {
    pub(super) fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }
}

impl Deref for Opened {
    type Target = Channel;

    fn deref(&self) -> &Channel {
        &self.channel
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let name = &self.channel.declared.name;
        let mut all = self.space.0.opened.lock();
        // Unless the name was opened again.
        if all.get(name).is_some_and(|opened| opened.strong_count() == 0) {
            all.remove(name);
            self.space.member().registry.remove_channel(name);
        }
        drop(all);
        self.channel.close();
    }
}
