//! The parameters of a node.
//!
//! # Turns
//!
//! A change runs the program's callbacks, which may take long and must find the values unchanged:
//! so changes come one after the other, and no lock is held meanwhile. A thread that declares or
//! sets takes its [`Turn`], and waits if another thread has it. If it already has the turn itself
//! (a callback sets a parameter), or the other thread waits for it ([`waits`](super::waits)), it
//! gets an error. A request by service never waits on the thread that receives:
//! [`ParameterTable::in_turn`] leaves it to the thread with the turn, which answers it before it
//! gives the turn up.
//!
//! Reading takes the short lock of the values; handles need no lock at all.
//!
//! # The order of a change
//!
//! | step | under the lock |
//! |---|---|
//! | pre-set callbacks, which may change the list | |
//! | check: declared, not read-only, type, range, convertible to its handle's type | yes |
//! | of several values for one parameter, the last one is kept | |
//! | on-set callbacks, the last one first; then the structs with these parameters | |
//! | values that steer the library take effect (`use_sim_time`), or are refused | |
//! | store, also in the cells of handles | yes |
//! | structs | |
//! | the event, which a panic in a callback must not prevent | |
//! | post-set callbacks, the last one first | |

use super::callbacks::{Callback, Callbacks};
use super::descriptor::ParameterDescriptor;
use super::error::ParameterError;
use super::field::Store;
use super::options::ParameterOptions;
use super::spec::{Declaration, Values};
use super::value::{NamedValue, ParameterType, ParameterValue};
use super::waits;
use super::words::{shortened, subject};
use crate::sys::sync::{Arc, Condvar, Guard, Mutex};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};

/// The parameters of a node.
pub(crate) struct ParameterTable {
    /// The node's full name.
    pub(crate) node: Arc<str>,
    pub(crate) options: ParameterOptions,
    /// Values from the command line, files and the program that replace defaults.
    pub(crate) overrides: BTreeMap<String, ParameterValue>,
    state: Mutex<State>,
    /// Notified when a turn is given up.
    free: Condvar,
    /// Has values take effect; set once.
    effect: OnceLock<Box<TakeEffect>>,
    /// Publishes changes; set once.
    observer: OnceLock<Box<Observe>>,
    /// Gets the name of each parameter that is declared.
    declared: OnceLock<Box<NoteDeclared>>,
}

/// A function that gets the name of a parameter.
type NoteDeclared = dyn Fn(&str) + Send + Sync;

/// A function that has values take effect before they are stored; the error is the reason why that
/// fails.
type TakeEffect = dyn Fn(&[NamedValue]) -> Result<(), String> + Send + Sync;

/// A function that gets values, and the change that each makes.
type Observe = dyn Fn(&[NamedValue], &[Change]) + Send + Sync;

#[derive(Default)]
struct State {
    declared: BTreeMap<String, Entry>,
    callbacks: Callbacks,
    structs: Vec<Arc<dyn Snapshot>>,
    /// The thread that declares or sets now.
    turn: Option<ThreadId>,
    /// Another thread waits for the end of this turn.
    is_awaited: bool,
    /// The number of turns that are over.
    turns: u64,
    /// Jobs that wait for that thread.
    waiting: VecDeque<Job>,
}

pub(crate) struct Entry {
    pub(crate) descriptor: ParameterDescriptor,
    pub(crate) value: ParameterValue,
    pub(crate) cell: Arc<dyn Store>,
}

/// A job for a turn, run by the thread that has it. It must not panic.
type Job = Box<dyn FnOnce(&Turn<'_>) + Send>;

/// A struct of parameters.
pub(crate) trait Snapshot: Send + Sync {
    /// The names of its parameters.
    fn names(&self) -> &[String];
    /// Checks whether the values go together; returns the function that sets them.
    fn prepare(self: Arc<Self>, values: Values) -> Result<Box<dyn FnOnce() + Send>, String>;
}

/// The effect of setting a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It declared the parameter.
    New,
    Changed,
    /// It undeclared the parameter.
    Deleted,
}

/// The reason why values are not set.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// There is no such parameter.
    NotDeclared(String),
    /// The reason, as a sentence.
    Because(String),
}

impl Refusal {
    /// Refuses a parameter's value.
    pub(crate) fn of(name: &str, reason: &str) -> Self {
        Self::Because(format!("{} is not set: {reason}", subject(name)))
    }

    /// Returns the text that the services use.
    pub(crate) fn reason(self) -> String {
        match self {
            Self::NotDeclared(name) => {
                format!("{} is not set: the node has declared none of that name", subject(&name))
            }
            Self::Because(reason) => reason,
        }
    }
}

impl ParameterTable {
    pub(crate) fn new(
        node: Arc<str>,
        options: ParameterOptions,
        mut overrides: BTreeMap<String, ParameterValue>,
    ) -> Arc<Self> {
        overrides.extend(options.overrides.iter().map(|own| (own.name.clone(), own.value.clone())));
        Arc::new(Self {
            node,
            options,
            overrides,
            state: Mutex::default(),
            free: Condvar::new(),
            effect: OnceLock::new(),
            observer: OnceLock::new(),
            declared: OnceLock::new(),
        })
    }

    /// Sets the function that has values take effect from now on. It takes no lock.
    pub(crate) fn take_effect_by(
        &self,
        effect: impl Fn(&[NamedValue]) -> Result<(), String> + Send + Sync + 'static,
    ) {
        let _ = self.effect.set(Box::new(effect)); // set only once
    }

    /// Sets the observer of changes from now on.
    pub(crate) fn observe(&self, observer: impl Fn(&[NamedValue], &[Change]) + Send + Sync + 'static) {
        let _ = self.observer.set(Box::new(observer)); // set only once
    }

    /// Sets the function that gets the names of parameters declared from now on. It takes no lock.
    pub(crate) fn note_declared(&self, note: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.declared.set(Box::new(note)); // set only once
    }

    /// Waits until this thread may declare and set. Fails if the turn can't end before this
    /// thread's callback returns.
    pub(crate) fn turn(&self) -> Result<Turn<'_>, ParameterError> {
        let mut state = self.state.lock();
        while let Some(owner) = state.turn {
            if !self.wait(&mut state, owner) {
                return Err(ParameterError::InCallback { node: self.node.to_string() });
            }
        }
        state.turn = Some(thread::current().id());
        Ok(Turn(self))
    }

    /// Waits for the end of the turn that another thread has: callbacks that were removed before
    /// have returned then. Doesn't wait if the turn can't end before this thread's callback
    /// returns.
    pub(crate) fn wait_for_turn(&self) {
        let mut state = self.state.lock();
        let turns = state.turns;
        while let Some(owner) = state.turn
            && state.turns == turns
            && self.wait(&mut state, owner)
        {}
    }

    /// Waits for the end of a turn; may return early. Returns `false` without a wait if its owner
    /// is this thread or waits for it.
    fn wait(&self, state: &mut Guard<'_, State>, owner: ThreadId) -> bool {
        let can_end = waits::begin(self.address(), owner);
        if can_end {
            state.is_awaited = true;
            self.free.wait_at_most(state, None);
        }
        can_end
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Runs a job in a turn: now, or, if another thread has the turn, on that thread. If this
    /// thread has it already, the job gets no turn. It must not panic.
    pub(crate) fn in_turn(&self, job: impl FnOnce(Option<&Turn<'_>>) + Send + 'static) {
        if self.state.lock().turn == Some(thread::current().id()) {
            job(None);
        } else {
            self.at_turn(move |turn| job(Some(turn)));
        }
    }

    /// Runs a job in a turn: now, or at the end of the turn that a thread has, also this one. It
    /// must not panic.
    pub(crate) fn at_turn(&self, job: impl FnOnce(&Turn<'_>) + Send + 'static) {
        let mut state = self.state.lock();
        if state.turn.is_some() {
            state.waiting.push_back(Box::new(job));
        } else {
            state.turn = Some(thread::current().id());
            drop(state);
            job(&Turn(self));
        }
    }

    /// Returns the result of `look` for a parameter; `None` if it isn't declared.
    pub(crate) fn look<R>(&self, name: &str, look: impl FnOnce(&Entry) -> R) -> Option<R> {
        self.state.lock().declared.get(name).map(look)
    }

    /// Returns the result of `look` for each; `None` if one of them isn't declared.
    pub(crate) fn look_at_all<R>(
        &self,
        names: &[impl AsRef<str>],
        look: impl Fn(&Entry) -> R,
    ) -> Option<Vec<R>> {
        let state = self.state.lock();
        names.iter().map(|name| state.declared.get(name.as_ref()).map(&look)).collect()
    }

    /// Returns the names below the prefixes, and their parents; as the service `list_parameters`
    /// answers.
    pub(crate) fn list(&self, prefixes: &[impl AsRef<str>], depth: u64) -> (Vec<String>, Vec<String>) {
        let state = self.state.lock();
        let dots = |text: &str| text.bytes().filter(|byte| *byte == b'.').count() as u64;
        let is_below = |name: &str, prefix: &str| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| match rest.strip_prefix('.') {
                Some(below) => depth == 0 || dots(below) < depth,
                None => rest.is_empty(),
            })
        };
        let wanted = |name: &&String| {
            if prefixes.is_empty() {
                return depth == 0 || dots(name) < depth;
            }
            prefixes.iter().any(|prefix| is_below(name, prefix.as_ref()))
        };
        let names: Vec<String> = state.declared.keys().filter(wanted).cloned().collect();
        let parents: BTreeSet<&str> =
            names.iter().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
        let parents = parents.into_iter().map(str::to_owned).collect();
        (names, parents)
    }

    pub(crate) fn add_callback(&self, callback: Callback) -> u64 {
        self.state.lock().callbacks.add(callback)
    }

    pub(crate) fn remove_callback(&self, number: u64) {
        let removed = self.state.lock().callbacks.remove(number);
        drop(removed); // it holds the program's code: outside the lock
    }
}

/// The right of this thread to declare and set; dropping it gives that up.
pub(crate) struct Turn<'a>(&'a ParameterTable);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        loop {
            let mut state = self.0.state.lock();
            let Some(job) = state.waiting.pop_front() else {
                state.turn = None;
                state.turns += 1;
                if std::mem::take(&mut state.is_awaited) {
                    waits::end(self.0.address());
                    self.0.free.notify_all();
                }
                return;
            };
            drop(state);
            job(self);
        }
    }
}

impl Turn<'_> {
    /// Declares parameters, with their values: all, or none. Each has an event of its own.
    pub(crate) fn declare(
        &self,
        declarations: Vec<Declaration>,
    ) -> Result<Vec<ParameterValue>, ParameterError> {
        let mut entries = Vec::new();
        for declaration in declarations {
            entries.push(self.prepare(declaration, &entries)?);
        }
        self.enter(entries, None)
    }

    /// Returns a parameter's value, whatever its type; declares the parameter if it isn't yet.
    pub(crate) fn value_or_declared(
        &self,
        declaration: Declaration,
    ) -> Result<ParameterValue, ParameterError> {
        match self.0.look(&declaration.descriptor.name, |entry| entry.value.clone()) {
            Some(value) => Ok(value),
            None => Ok(self.declare(vec![declaration])?.swap_remove(0)),
        }
    }

    /// As [`declare`](Self::declare), for a struct.
    pub(crate) fn declare_struct(
        &self,
        declarations: Vec<Declaration>,
        make: impl FnOnce(Vec<String>, Values) -> Result<Arc<dyn Snapshot>, String>,
    ) -> Result<(), ParameterError> {
        let mut entries = Vec::new();
        for declaration in declarations {
            entries.push(self.prepare(declaration, &entries)?);
        }
        let names = entries.iter().map(|entry| entry.descriptor.name.clone()).collect();
        let values = entries
            .iter()
            .map(|entry| NamedValue { name: entry.descriptor.name.clone(), value: entry.value.clone() });
        let made =
            make(names, Values(values.collect())).map_err(|reason| self.refused(Refusal::Because(reason)))?;
        self.enter(entries, Some(made)).map(drop)
    }

    /// Notifies the observer of all parameters that were declared before it was set.
    pub(crate) fn notify_of_all(&self) {
        let values: Vec<_> = {
            let state = self.0.state.lock();
            let all = state.declared.iter().filter(|(_, entry)| entry.value != ParameterValue::NotSet);
            all.map(|(name, entry)| NamedValue { name: name.clone(), value: entry.value.clone() }).collect()
        };
        for value in values {
            self.notify(&[value], &[Change::New]);
        }
    }

    /// Determines the value of a parameter, and checks it.
    fn prepare(&self, declaration: Declaration, others: &[Entry]) -> Result<Entry, ParameterError> {
        let Declaration { mut descriptor, default, ignore_overrides, cell } = declaration;
        let (node, name) = (|| self.0.node.to_string(), descriptor.name.clone());
        if name.is_empty() {
            return Err(ParameterError::EmptyName { node: node() });
        }
        let twice = others.iter().any(|other| other.descriptor.name == name);
        if twice || self.0.look(&name, |_| ()).is_some() {
            return Err(ParameterError::AlreadyDeclared { node: node(), name });
        }
        let invalid = |reason| ParameterError::InvalidValue { node: node(), name: name.clone(), reason };
        let default = default.map_err(invalid)?;
        if descriptor.kind == ParameterType::NotSet && !descriptor.dynamic_typing {
            descriptor.kind = default.kind();
        }
        let overriding = self.0.overrides.get(&name).filter(|_| !ignore_overrides);
        let mut value = overriding.cloned().unwrap_or(default);
        if !descriptor.dynamic_typing {
            value = value.widened(descriptor.kind);
        }
        if value != ParameterValue::NotSet {
            descriptor.complaint("it", &value).map_err(|reason| match value.kind() == descriptor.kind {
                true => invalid(reason),
                false => ParameterError::InvalidType { node: node(), name: name.clone(), reason },
            })?;
        }
        let made = cell(&value).map_err(|reason| match value {
            ParameterValue::NotSet => {
                let kind = descriptor.kind;
                ParameterError::Uninitialized { node: node(), name: name.clone(), kind }
            }
            _ => invalid(reason),
        })?;
        if value != ParameterValue::NotSet {
            let asked = [NamedValue { name: name.clone(), value: value.clone() }];
            self.ask(&asked).map_err(invalid)?;
        }
        if descriptor.dynamic_typing {
            descriptor.kind = value.kind();
        }
        if let Some(note) = self.0.declared.get() {
            note(&name);
        }
        Ok(Entry { descriptor, value, cell: made })
    }

    /// Adds the parameters to the table.
    fn enter(
        &self,
        entries: Vec<Entry>,
        snapshot: Option<Arc<dyn Snapshot>>,
    ) -> Result<Vec<ParameterValue>, ParameterError> {
        let values: Vec<_> = entries.iter().map(|entry| entry.value.clone()).collect();
        let names: Vec<_> = entries.iter().map(|entry| entry.descriptor.name.clone()).collect();
        {
            let mut state = self.0.state.lock();
            state.structs.extend(snapshot);
            state.declared.extend(entries.into_iter().map(|entry| (entry.descriptor.name.clone(), entry)));
        }
        // One without a value has none to report yet.
        let new = names.into_iter().zip(&values).filter(|(_, value)| **value != ParameterValue::NotSet);
        let new: Vec<_> = new.map(|(name, value)| [NamedValue { name, value: value.clone() }]).collect();
        new.iter().for_each(|one| self.notify(one, &[Change::New]));
        new.iter().for_each(|one| self.callbacks(Callback::post).for_each(|callback| callback(one)));
        Ok(values)
    }

    /// Sets all values or none, with one event.
    pub(crate) fn set(&self, values: Vec<NamedValue>) -> Result<(), Refusal> {
        self.change(values, |values| self.0.effect.get().map_or(Ok(()), |effect| effect(values)))
    }

    /// As [`set`](Self::set), for a value that has taken effect already.
    pub(crate) fn update(&self, value: NamedValue) -> Result<(), Refusal> {
        self.change(vec![value], |_| Ok(()))
    }

    fn change(
        &self,
        values: Vec<NamedValue>,
        take_effect: impl FnOnce(&[NamedValue]) -> Result<(), String>,
    ) -> Result<(), Refusal> {
        let mut values = self.widened(values);
        self.callbacks(Callback::pre).for_each(|callback| callback(&mut values));
        let values = self.widened(values);
        if values.is_empty() {
            let reason = "no parameter is to be set: the list is empty, or a callback for what is to be set took all out of it";
            return Err(Refusal::Because(reason.to_owned()));
        }
        self.check(&values)?;
        let values = last_of_each(values);
        self.ask(&values).map_err(Refusal::Because)?;
        let prepared = self.prepare_structs(&values)?;
        take_effect(&values).map_err(Refusal::Because)?;
        let (changes, gone) = self.store(&values);
        prepared.into_iter().for_each(|set| set());
        drop(gone); // outside the lock
        self.notify(&values, &changes);
        self.callbacks(Callback::post).for_each(|callback| callback(&values));
        Ok(())
    }

    /// Converts integers for doubles to doubles, where nothing is lost by it.
    fn widened(&self, mut values: Vec<NamedValue>) -> Vec<NamedValue> {
        for NamedValue { name, value } in &mut values {
            let kind = self.0.look(name, |Entry { descriptor, .. }| {
                if descriptor.dynamic_typing { ParameterType::NotSet } else { descriptor.kind }
            });
            if let Some(kind) = kind {
                *value = std::mem::take(value).widened(kind);
            }
        }
        values
    }

    fn check(&self, values: &[NamedValue]) -> Result<(), Refusal> {
        let refused = |reason: String| Err(Refusal::Because(reason));
        let state = self.0.state.lock();
        for NamedValue { name, .. } in values {
            if name.is_empty() {
                return refused("a parameter has a name, and one without is to be set".to_owned());
            }
            match state.declared.get(name) {
                None if self.0.options.allow_undeclared => {}
                None => return Err(Refusal::NotDeclared(name.clone())),
                Some(entry) if entry.descriptor.read_only => {
                    return refused(read_only(name));
                }
                Some(_) => {}
            }
        }
        for NamedValue { name, value } in values {
            let Some(Entry { descriptor, cell, value: before }) = state.declared.get(name) else { continue };
            if *value == ParameterValue::NotSet
                && *before != ParameterValue::NotSet
                && !descriptor.dynamic_typing
            {
                return refused(keeps_its_type(descriptor));
            }
            descriptor.check(value).map_err(Refusal::Because)?;
            cell.check(value).map_err(|reason| Refusal::of(name, &reason))?;
        }
        Ok(())
    }

    /// Checks the new values with the structs that contain them.
    fn prepare_structs(&self, values: &[NamedValue]) -> Result<Vec<Box<dyn FnOnce() + Send>>, Refusal> {
        let mut asked = Vec::new();
        {
            let state = self.0.state.lock();
            let new = |name: &str| values.iter().find(|new| new.name == name).map(|new| new.value.clone());
            for snapshot in &state.structs {
                let names = snapshot.names();
                if !values.iter().any(|new| names.contains(&new.name)) {
                    continue;
                }
                let value = |name: &String| {
                    let now = || state.declared.get(name).map(|entry| entry.value.clone());
                    NamedValue { name: name.clone(), value: new(name).or_else(now).unwrap_or_default() }
                };
                asked.push((snapshot.clone(), Values(names.iter().map(value).collect())));
            }
        }
        let prepare = |(snapshot, values): (Arc<dyn Snapshot>, Values)| snapshot.prepare(values);
        asked.into_iter().map(prepare).collect::<Result<_, _>>().map_err(Refusal::Because)
    }

    /// Stores checked values, also in the cells, without running the program's code. Returns the
    /// changes, and the entries that were undeclared.
    fn store(&self, values: &[NamedValue]) -> (Vec<Change>, Vec<Entry>) {
        let (mut changes, mut gone) = (Vec::with_capacity(values.len()), Vec::new());
        let mut state = self.0.state.lock();
        for NamedValue { name, value } in values {
            changes.push(match state.declared.get_mut(name) {
                Some(entry) if *value == ParameterValue::NotSet && entry.value != ParameterValue::NotSet => {
                    gone.extend(state.declared.remove(name));
                    Change::Deleted
                }
                Some(entry) => {
                    if entry.descriptor.dynamic_typing {
                        entry.descriptor.kind = value.kind();
                    }
                    entry.value.clone_from(value);
                    entry.cell.store(value);
                    Change::Changed
                }
                None => {
                    let Declaration { mut descriptor, cell, .. } =
                        Declaration::dynamic(name, ParameterValue::NotSet);
                    descriptor.kind = value.kind();
                    if let Ok(cell) = cell(value) {
                        state.declared.insert(name.clone(), Entry { descriptor, value: value.clone(), cell });
                    }
                    Change::New
                }
            });
        }
        (changes, gone)
    }

    /// Removes a parameter with dynamic typing.
    pub(crate) fn undeclare(&self, name: &str) -> Result<(), ParameterError> {
        let described = self.0.look(name, |entry| entry.descriptor.clone());
        let Some(descriptor) = described else {
            return Err(self.refused(Refusal::NotDeclared(name.to_owned())));
        };
        let reason = if descriptor.read_only {
            format!("parameter '{}' is read-only, so it can't be undeclared", shortened(name))
        } else if !descriptor.dynamic_typing {
            keeps_its_type(&descriptor)
        } else {
            let gone = self.0.state.lock().declared.remove(name);
            drop(gone); // outside the lock
            return Ok(());
        };
        Err(self.refused(Refusal::Because(reason)))
    }

    /// Returns the error for a program that sets.
    pub(crate) fn refused(&self, refusal: Refusal) -> ParameterError {
        let node = self.0.node.to_string();
        match refusal {
            Refusal::NotDeclared(name) => ParameterError::NotDeclared { node, name },
            Refusal::Because(reason) => ParameterError::Refused { node, reason },
        }
    }

    /// Asks the on-set callbacks whether they accept the values; the error is the reason of the
    /// first that doesn't.
    fn ask(&self, values: &[NamedValue]) -> Result<(), String> {
        self.callbacks(Callback::on).try_for_each(|callback| callback(values))
    }

    /// Returns the callbacks of a kind, the last one first. Each is looked up when the one before
    /// it has returned: one that was removed meanwhile doesn't start.
    fn callbacks<C>(&self, of_kind: impl Fn(&Callback) -> Option<C>) -> impl Iterator<Item = C> {
        let mut number = u64::MAX;
        iter::from_fn(move || {
            let (found, callback) = self.0.state.lock().callbacks.last_before(number, &of_kind)?;
            number = found;
            Some(callback)
        })
    }

    fn notify(&self, values: &[NamedValue], changes: &[Change]) {
        if let Some(observer) = self.0.observer.get() {
            observer(values, changes);
        }
    }
}

/// Keeps the last value of each parameter: values that are set together have no order.
fn last_of_each(mut values: Vec<NamedValue>) -> Vec<NamedValue> {
    let mut kept = BTreeSet::new();
    values.reverse();
    values.retain(|one| kept.insert(one.name.clone()));
    values.reverse();
    values
}

fn read_only(name: &str) -> String {
    format!("{} is read-only: what its program was started with counts", subject(name))
}

/// The reason why a parameter can't be undeclared.
fn keeps_its_type(descriptor: &ParameterDescriptor) -> String {
    let ParameterDescriptor { name, kind, .. } = descriptor;
    let subject = subject(name);
    format!(
        "{subject} is of type {kind} and keeps it, so it can't be undeclared: only one with dynamic typing can"
    )
}
