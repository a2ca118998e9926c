//! The allowed forms of a server's callback: one implementation for each, with the form's signature
//! as a marker type that keeps them apart.

use super::goal::{BeginningGoal, ExecutingGoal};
use super::kind::ServerKind;
use crate::posting::{CallbackResult, Poster};
use sinew::__private::locks::Mutex;
use sinew::event::Outcome;
use sinew::executor::{CallbackGroup, WorkQueue};
use sinew::{Group, ReentrantGroup};
use std::sync::Arc;

/// A callback that the goals of an exclusive group share. One of them runs at a time, so it is
/// always there.
struct ExclusiveCallback<F>(Mutex<Option<F>>);

impl<F> ExclusiveCallback<F> {
    fn new(callback: F) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(callback))))
    }

    /// Takes the callback out, since no lock is held while it runs.
    fn run(&self, run: impl FnOnce(&mut F) -> CallbackResult) -> CallbackResult {
        let callback = self.0.lock().take();
        let mut taken = TakenCallback { cell: self, callback };
        taken.callback.as_mut().map_or(Ok(()), run)
    }
}

/// Puts the callback back, also after a panic.
struct TakenCallback<'a, F> {
    cell: &'a ExclusiveCallback<F>,
    callback: Option<F>,
}

impl<F> Drop for TakenCallback<'_, F> {
    fn drop(&mut self) {
        *self.cell.0.lock() = self.callback.take();
    }
}

/// Begins a goal, unless its server is gone.
fn begin<A: ServerKind>(
    goal: BeginningGoal<A>,
    run: impl FnOnce(ExecutingGoal<A>) -> CallbackResult,
) -> CallbackResult {
    goal.begin().map_or(Ok(()), run)
}

/// A callback for the goals of a server: `|goal: ExecutingGoal<A>|`, or, in a
/// [`Group<S>`](sinew::Group), `|state: &mut S, goal: ExecutingGoal<A>|`. It returns nothing or a
/// `Result`. In a [`ReentrantGroup`](sinew::ReentrantGroup) it is `Fn` and `Sync`. A closure must
/// name the type of its parameters.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for goals in a `{G}`",
    label = "no form of callback fits",
    note = "it takes `ExecutingGoal<{A}>`, in a `Group<S>` perhaps after `&mut S`, and returns `()` or `Result<(), E>` with an error or a text",
    note = "a closure must name its parameters' types, be `Send + 'static`, and in a reentrant group also `Fn` and `Sync`"
)]
pub trait GoalCallback<A: ServerKind, G: CallbackGroup, Form>: Sized + Send + 'static {
    #[doc(hidden)]
    fn poster(self, queue: WorkQueue<G>) -> Poster<BeginningGoal<A>>;
}

impl<A, F, R, S> GoalCallback<A, Group<S>, fn(ExecutingGoal<A>) -> R> for F
where
    A: ServerKind,
    F: FnMut(ExecutingGoal<A>) -> R + Send + 'static,
    R: Outcome,
    S: Send + 'static,
{
    fn poster(mut self, queue: WorkQueue<Group<S>>) -> Poster<BeginningGoal<A>> {
        let callback = move |_: &mut S, goal: ExecutingGoal<A>| self(goal);
        GoalCallback::<A, Group<S>, _>::poster(callback, queue)
    }
}

impl<A, F, R, S> GoalCallback<A, Group<S>, fn(&mut S, ExecutingGoal<A>) -> R> for F
where
    A: ServerKind,
    F: FnMut(&mut S, ExecutingGoal<A>) -> R + Send + 'static,
    R: Outcome,
    S: Send + 'static,
{
    fn poster(self, queue: WorkQueue<Group<S>>) -> Poster<BeginningGoal<A>> {
        let callback = ExclusiveCallback::new(self);
        Arc::new(move |goal| {
            let callback = callback.clone();
            queue.__post_as(goal.id().0, move |state: &mut S| {
                begin(goal, |goal| callback.run(|callback| callback(state, goal).into_result()))
            })
        })
    }
}

impl<A, F, R> GoalCallback<A, ReentrantGroup, fn(ExecutingGoal<A>) -> R> for F
where
    A: ServerKind,
    F: Fn(ExecutingGoal<A>) -> R + Send + Sync + 'static,
    R: Outcome,
{
    fn poster(self, queue: WorkQueue<ReentrantGroup>) -> Poster<BeginningGoal<A>> {
        let callback = Arc::new(self);
        Arc::new(move |goal| {
            let callback = callback.clone();
            queue.__post_as(goal.id().0, move || begin(goal, |goal| callback(goal).into_result()))
        })
    }
}
