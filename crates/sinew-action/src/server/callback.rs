//! The allowed forms of a server's callback: one implementation for each, with the form's signature
//! as a marker type that keeps them apart.

use super::core::Next;
use super::goal::ExecutingGoal;
use crate::maker::{CallbackResult, Maker};
use sinew::error::CreateError;
use sinew::event::Outcome;
use sinew::msg::Action;
use sinew::{Group, GuardCondition, Node, ReentrantGroup};

/// The source of a callback's goals.
#[doc(hidden)]
pub(super) type Goals<A> = Box<dyn Fn() -> Option<Next<A>> + Send + Sync>;

/// A callback for the goals of a server: `|goal: ExecutingGoal<A>|`, or, in a
/// [`Group<S>`](sinew::Group), `|state: &mut S, goal: ExecutingGoal<A>|`. It returns nothing or a
/// `Result`. In a [`ReentrantGroup`](sinew::ReentrantGroup) it is `Fn` and `Sync`. A closure must
/// name the type of its parameters.
#[diagnostic::on_unimplemented(
    message = "this is not a callback for goals in a `{M}`",
    label = "no form of callback fits",
    note = "it takes `ExecutingGoal<{A}>`, in a `Group<S>` perhaps after `&mut S`, and returns `()` or `Result<(), E>` with an error or a text",
    note = "a closure must name its parameters' types, be `Send + 'static`, and in a reentrant group also `Fn` and `Sync`"
)]
pub trait GoalCallback<A: Action, M: Maker, Form>: Sized + Send + 'static {
    #[doc(hidden)]
    fn bell(self, maker: &M, action: &str, goals: Goals<A>) -> Result<GuardCondition, CreateError>;
}

/// Returns the name used in reports when a goal's callback or future fails.
pub(super) fn called(action: &str) -> String {
    format!("action server {action}")
}

/// Executes the next goal or future.
fn run<A: Action>(
    goals: &Goals<A>,
    callback: impl FnOnce(ExecutingGoal<A>) -> CallbackResult,
) -> CallbackResult {
    match goals() {
        Some(Next::Begin(goal)) => callback(goal),
        Some(Next::Resume(task)) => task.run(),
        None => Ok(()),
    }
}

macro_rules! forms {
    ($([$($state:ident)?] $maker:ty, $bound:ident $(+ $sync:ident)?;)*) => {$(
        impl<A, F, R $(, $state)?> GoalCallback<A, $maker, fn($(&mut $state,)? ExecutingGoal<A>) -> R> for F
        where
            A: Action,
            F: $bound($(&mut $state,)? ExecutingGoal<A>) -> R + Send $(+ $sync)? + 'static,
            R: Outcome,
            $($state: Send + 'static,)?
        {
            #[allow(unused_mut, reason = "only some forms change themselves")]
            fn bell(mut self, maker: &$maker, action: &str, goals: Goals<A>) -> Result<GuardCondition, CreateError> {
                maker.guard_condition().called(called(action)).callback(forms!(@callback self goals $($state)?))
            }
        }
    )*};
    (@callback $self:ident $goals:ident) => {
        move || run(&$goals, |goal| $self(goal).into_result())
    };
    (@callback $self:ident $goals:ident $state:ident) => {
        move |state: &mut $state| run(&$goals, |goal| $self(state, goal).into_result())
    };
}

/// For callbacks without a state parameter, in a group with any state.
impl<A, F, R, S> GoalCallback<A, Group<S>, fn(ExecutingGoal<A>) -> R> for F
where
    A: Action,
    F: FnMut(ExecutingGoal<A>) -> R + Send + 'static,
    R: Outcome,
    S: Send + 'static,
{
    fn bell(
        mut self,
        maker: &Group<S>,
        action: &str,
        goals: Goals<A>,
    ) -> Result<GuardCondition, CreateError> {
        maker
            .guard_condition()
            .called(called(action))
            .callback(move || run(&goals, |goal| self(goal).into_result()))
    }
}

forms! {
    [] Node, FnMut;
    [S] Group<S>, FnMut;
    [] ReentrantGroup, Fn + Sync;
}
