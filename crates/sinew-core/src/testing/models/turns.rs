//! A group's token: one thread at a time, and each sees the state left by the last.

use super::{Probe, add_group, check, notify};
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::GroupNumber;
use crate::sys::sync::Arc;
use loom::thread;

/// Two threads take work from one scheduler with two entities of one group: the thread that has the
/// token is alone with the group's state, and sees the other's writes there. No entity's work is
/// lost.
///
/// Fails if `pop` doesn't record what is running, if `ready_member` puts a running group into the
/// queue, or if `put_back` doesn't put back a group that has more to do.
#[test]
fn one_turn_at_a_time() {
    check(6, || {
        let scheduler = Scheduler::new();
        let group = GroupNumber::new();
        let state = Arc::new(group.state(Probe::new(0)));
        let tasks = add_group::<2>(&scheduler, group);
        let spin = |scheduler: Arc<Scheduler>,
                    state: Arc<crate::executor::group_token::GroupCell<Probe, _>>| {
            let (mut ran, mut work) = (0, None);
            while let Next::Run = Worker::new(&scheduler, 0).next(&mut work, Blocking::None) {
                let token = &mut work.as_mut().unwrap().token;
                let state = state.open(&mut token.state);
                state.write(state.read() + 1);
                ran += 1;
            }
            ran
        };
        notify(&tasks[0], 1);
        let (there, its) = (scheduler.clone(), state.clone());
        let thread = thread::spawn(move || spin(there, its));
        notify(&tasks[1], 2);
        let mine = spin(scheduler.clone(), state.clone());
        let others = thread.join().unwrap();
        let rest = spin(scheduler, state.clone()); // ready while the other thread had the token, and not after
        assert_eq!(mine + others + rest, 2);
    });
}
