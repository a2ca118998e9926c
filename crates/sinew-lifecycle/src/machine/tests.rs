use super::*;
use CallbackResult::{Error, Failure, Success};
use State::{
    Activating, Active, CleaningUp, Configuring, Deactivating, ErrorProcessing, Finalized, Inactive,
    ShuttingDown, Unconfigured,
};
use proptest::prelude::*;
use sinew_interfaces::lifecycle_msgs::msg;

#[test]
fn states_have_the_numbers_of_the_definition() {
    let defined = [
        (msg::State::PRIMARY_STATE_UNKNOWN, "unknown"),
        (msg::State::PRIMARY_STATE_UNCONFIGURED, "unconfigured"),
        (msg::State::PRIMARY_STATE_INACTIVE, "inactive"),
        (msg::State::PRIMARY_STATE_ACTIVE, "active"),
        (msg::State::PRIMARY_STATE_FINALIZED, "finalized"),
        (msg::State::TRANSITION_STATE_CONFIGURING, "configuring"),
        (msg::State::TRANSITION_STATE_CLEANINGUP, "cleaningup"),
        (msg::State::TRANSITION_STATE_SHUTTINGDOWN, "shuttingdown"),
        (msg::State::TRANSITION_STATE_ACTIVATING, "activating"),
        (msg::State::TRANSITION_STATE_DEACTIVATING, "deactivating"),
        (msg::State::TRANSITION_STATE_ERRORPROCESSING, "errorprocessing"),
    ];
    assert_eq!(State::ALL.map(|state| (state.id(), state.label())), defined);
    for id in 0..=u8::MAX {
        assert_eq!(
            State::from_id(id).map(State::id),
            defined.iter().map(|(id, _)| *id).find(|known| *known == id)
        );
    }
}

#[test]
fn steps_have_the_numbers_of_the_definition() {
    use msg::Transition as T;
    let defined = [
        (T::TRANSITION_CONFIGURE, T::TRANSITION_ON_CONFIGURE_SUCCESS, Configuring),
        (T::TRANSITION_CLEANUP, T::TRANSITION_ON_CLEANUP_SUCCESS, CleaningUp),
        (T::TRANSITION_ACTIVATE, T::TRANSITION_ON_ACTIVATE_SUCCESS, Activating),
        (T::TRANSITION_DEACTIVATE, T::TRANSITION_ON_DEACTIVATE_SUCCESS, Deactivating),
        (T::TRANSITION_UNCONFIGURED_SHUTDOWN, T::TRANSITION_ON_SHUTDOWN_SUCCESS, ShuttingDown),
        (T::TRANSITION_INACTIVE_SHUTDOWN, T::TRANSITION_ON_SHUTDOWN_SUCCESS, ShuttingDown),
        (T::TRANSITION_ACTIVE_SHUTDOWN, T::TRANSITION_ON_SHUTDOWN_SUCCESS, ShuttingDown),
    ];
    let step = |id: u8| *GRAPH.iter().find(|step| step.id == id).unwrap();
    for (begins, succeeds, through) in defined {
        assert_eq!((step(begins).goal, step(succeeds).start), (through, through));
        for (more, label) in [SUCCESS, FAILURE, ERROR].into_iter().enumerate() {
            let result = step(succeeds + u8::try_from(more).unwrap());
            assert_eq!((result.start, result.label), (through, label));
        }
    }
    assert_eq!(step(T::TRANSITION_ON_ERROR_SUCCESS).goal, Unconfigured);
    assert_eq!(step(T::TRANSITION_ON_ERROR_FAILURE).goal, Finalized);
    assert_eq!(step(T::TRANSITION_ON_ERROR_ERROR).goal, Finalized);
    assert_eq!(T::TRANSITION_CALLBACK_SUCCESS, Success as u8);
    assert_eq!(T::TRANSITION_CALLBACK_FAILURE, Failure as u8);
    assert_eq!(T::TRANSITION_CALLBACK_ERROR, Error as u8);
    let mut ids = GRAPH.map(|step| step.id);
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "each once");
    assert!(!ids.contains(&T::TRANSITION_CREATE) && !ids.contains(&T::TRANSITION_DESTROY), "never offered");
}

/// Every row of ROS 2's table: the transition, its id, its start state, its transition state, and
/// the state for each result. Written out, not computed.
const ROWS: [(Transition, u8, State, State, [State; 3]); 7] = [
    (Transition::Configure, 1, Unconfigured, Configuring, [Inactive, Unconfigured, ErrorProcessing]),
    (Transition::Cleanup, 2, Inactive, CleaningUp, [Unconfigured, Inactive, ErrorProcessing]),
    (Transition::Activate, 3, Inactive, Activating, [Active, Inactive, ErrorProcessing]),
    (Transition::Deactivate, 4, Active, Deactivating, [Inactive, Active, ErrorProcessing]),
    (Transition::Shutdown, 5, Unconfigured, ShuttingDown, [Finalized, Finalized, ErrorProcessing]),
    (Transition::Shutdown, 6, Inactive, ShuttingDown, [Finalized, Finalized, ErrorProcessing]),
    (Transition::Shutdown, 7, Active, ShuttingDown, [Finalized, Finalized, ErrorProcessing]),
];

#[test]
fn every_row_of_the_table_holds() {
    for (transition, id, from, via, goals) in ROWS {
        for (result, goal) in [Success, Failure, Error].into_iter().zip(goals) {
            let mut machine = StateMachine { state: from };
            let begun = machine.begin(transition).unwrap();
            assert_eq!((begun.id, begun.label, begun.start, begun.goal), (id, transition.label(), from, via));
            assert!(Transition::ALL.iter().all(|other| machine.begin(*other).is_none()), "one at a time");
            let ended = machine.end(result).unwrap();
            assert_eq!((ended.start, ended.goal, machine.state()), (via, goal, goal));
            if result != Error {
                assert_eq!(machine.end(result), None, "it has ended");
                continue;
            }
            for (result, goal) in [(Success, Unconfigured), (Failure, Finalized), (Error, Finalized)] {
                let mut machine = StateMachine { state: ErrorProcessing };
                assert!(Transition::ALL.iter().all(|other| machine.begin(*other).is_none()));
                assert_eq!(machine.end(result).unwrap().goal, goal);
                assert_eq!(machine.state(), goal);
            }
        }
    }
}

#[test]
fn nothing_else_may_begin() {
    for state in State::ALL {
        for transition in Transition::ALL {
            let row = ROWS.iter().find(|row| (row.0, row.2) == (transition, state));
            let mut machine = StateMachine { state };
            assert_eq!(machine.begin(transition).map(|step| step.goal), row.map(|row| row.3));
            assert_eq!(machine.state(), row.map_or(state, |row| row.3));
        }
    }
}

#[test]
fn a_label_counts_more_than_an_id() {
    use Transition::{Activate, Cleanup, Configure, Shutdown};
    for (state, label, id, expected) in [
        (Unconfigured, "configure", 0, Some(Configure)),
        (Unconfigured, "", 1, Some(Configure)),
        (Unconfigured, "configure", 5, Some(Configure)),
        (Unconfigured, "shutdown", 1, Some(Shutdown)),
        (Unconfigured, "no such thing", 1, None),
        (Unconfigured, "activate", 1, None),
        (Unconfigured, "", 3, None),
        (Unconfigured, "", 6, None), // the shutdown from another state
        (Unconfigured, "", 0, None),
        (Unconfigured, "", 8, None),
        (Inactive, "", 6, Some(Shutdown)),
        (Inactive, "", 5, None),
        (Inactive, "shutdown", 7, Some(Shutdown)),
        (Inactive, "cleanup", 3, Some(Cleanup)),
        (Inactive, "", 3, Some(Activate)),
        (Active, "", 7, Some(Shutdown)),
        (Active, "configure", 0, None),
        (Finalized, "shutdown", 5, None),
        (Configuring, "transition_success", 10, None), // only a callback decides that
        (Configuring, "", 10, None),
    ] {
        assert_eq!(requested(state, label, id), expected, "{state} {label:?} {id}");
    }
}

/// An action on a machine.
#[derive(Debug, Clone, Copy)]
enum Act {
    Begin(Transition),
    End(CallbackResult),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let begin = prop::sample::select(&Transition::ALL[..]).prop_map(Act::Begin);
    let end = prop::sample::select(vec![Success, Failure, Error]).prop_map(Act::End);
    prop::collection::vec(prop_oneof![begin, end], 0..60)
}

/// The same machine in everyday terms: what the node has, what it is doing, and whether that
/// failed.
#[derive(Default, Clone, Copy)]
struct Oracle {
    is_configured: bool,
    is_active: bool,
    is_over: bool,
    doing: Option<Transition>,
    is_failing: bool,
}

impl Oracle {
    fn state(self) -> State {
        match (self.is_failing, self.doing) {
            (true, _) => ErrorProcessing,
            (_, Some(Transition::Configure)) => Configuring,
            (_, Some(Transition::Cleanup)) => CleaningUp,
            (_, Some(Transition::Activate)) => Activating,
            (_, Some(Transition::Deactivate)) => Deactivating,
            (_, Some(Transition::Shutdown)) => ShuttingDown,
            _ if self.is_over => Finalized,
            _ if self.is_active => Active,
            _ if self.is_configured => Inactive,
            _ => Unconfigured,
        }
    }

    fn act(&mut self, act: Act) -> bool {
        match act {
            Act::Begin(transition) => {
                let fits = match transition {
                    Transition::Configure => !self.is_configured,
                    Transition::Cleanup | Transition::Activate => self.is_configured && !self.is_active,
                    Transition::Deactivate => self.is_active,
                    Transition::Shutdown => true,
                };
                let may = fits && self.doing.is_none() && !self.is_over;
                if may {
                    self.doing = Some(transition);
                }
                may
            }
            Act::End(result) => {
                let Some(doing) = self.doing else { return false };
                if !self.is_failing && result == Error {
                    self.is_failing = true;
                    return true;
                }
                let has_failed = std::mem::take(&mut self.is_failing);
                self.doing = None;
                if has_failed || doing == Transition::Shutdown {
                    *self = Self { is_over: !(has_failed && result == Success), ..Self::default() };
                } else if result == Success {
                    self.is_configured = doing != Transition::Cleanup;
                    self.is_active = doing == Transition::Activate;
                }
                true
            }
        }
    }
}

proptest! {
    #[test]
    fn it_is_where_the_oracle_says(acts in acts()) {
        let (mut machine, mut oracle) = (StateMachine::new(), Oracle::default());
        for act in acts {
            let before = machine.state();
            let step = match act {
                Act::Begin(transition) => machine.begin(transition),
                Act::End(result) => machine.end(result),
            };
            prop_assert_eq!(step.is_some(), oracle.act(act));
            prop_assert_eq!(machine.state(), oracle.state());
            if let Some(step) = step {
                prop_assert_eq!((step.start, step.goal), (before, machine.state()));
            }
        }
    }

    /// A request is interpreted only as a transition that can begin.
    #[test]
    fn a_request_is_for_what_may_begin(acts in acts(), label in "|configure|cleanup|activate|deactivate|shutdown|.*", id in 0..16_u8) {
        let mut machine = StateMachine::new();
        for act in acts {
            let _ = match act {
                Act::Begin(transition) => machine.begin(transition),
                Act::End(result) => machine.end(result),
            };
        }
        if let Some(transition) = requested(machine.state(), &label, id) {
            prop_assert!(machine.begin(transition).is_some());
        }
    }
}
