//! The pure queue against a list of all tasks, which the model sorts for each question.

use crate::executor::group_token::REENTRANT;
use crate::executor::queue::ready_queue::{MemberId, Queued, ReadyQueue, Turn};
use crate::sys::clock::{ClockKind, Stamp};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseResult;
use std::cmp::Reverse;

#[derive(Debug, Clone)]
enum Operation {
    AddGroup {
        priority: i32,
        is_reentrant: bool,
    },
    SetPriority {
        group: Index,
        priority: i32,
    },
    Enter {
        group: Index,
    },
    Leave {
        task: Index,
    },
    /// A task became ready some time ago.
    MakeReady {
        task: Index,
        ago: i64,
    },
    Unready {
        task: Index,
    },
    SetTimer {
        task: Index,
        clock: usize,
        after: Option<i64>,
    },
    /// Time passes, and timers that are due become ready.
    Fire {
        time: i64,
    },
    /// Takes out the first task; `limited` to tasks that were ready some time ago.
    Pop {
        limited: Option<i64>,
    },
    PopThis {
        task: Index,
    },
    /// A turn ends; the task may have more to do.
    End {
        turn: Index,
        more: bool,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let index = any::<Index>;
    prop_oneof![
        2 => (0..3, any::<bool>()).prop_map(|(priority, is_reentrant)| AddGroup { priority, is_reentrant }),
        1 => (index(), 0..3).prop_map(|(group, priority)| SetPriority { group, priority }),
        3 => index().prop_map(|group| Enter { group }),
        1 => index().prop_map(|task| Leave { task }),
        6 => (index(), 0..50_i64).prop_map(|(task, ago)| MakeReady { task, ago }),
        1 => index().prop_map(|task| Unready { task }),
        3 => (index(), 0..3_usize, prop::option::of(-20..100_i64))
            .prop_map(|(task, clock, after)| SetTimer { task, clock, after }),
        3 => (0..60_i64).prop_map(|time| Fire { time }),
        5 => prop::option::of(0..60_i64).prop_map(|limited| Pop { limited }),
        1 => index().prop_map(|task| PopThis { task }),
        5 => (index(), any::<bool>()).prop_map(|(turn, more)| End { turn, more }),
    ]
}

struct Expected(i64);

impl Queued for Expected {
    fn expected(&self) -> i64 {
        self.0
    }
}

struct ModelGroup {
    slot: u32,
    priority: i32,
    is_reentrant: bool,
    running: usize,
}

struct ModelTask {
    id: MemberId,
    group: usize,
    expected: i64,
    ready: Option<Stamp>,
    timer: Option<(usize, i64)>,
    has_left: bool,
}

#[derive(Default)]
struct Model {
    groups: Vec<ModelGroup>,
    tasks: Vec<ModelTask>,
    turns: Vec<(usize, Turn)>,
    now: i64,
    order: u64,
}

impl Model {
    /// Returns a unique stamp at this time.
    fn stamp(&mut self, time: i64) -> Stamp {
        self.order += 1;
        Stamp { time, order: self.order }
    }

    fn may_run(&self, task: &ModelTask) -> bool {
        let group = &self.groups[task.group];
        !task.has_left && task.ready.is_some() && (group.is_reentrant || group.running == 0)
    }

    /// Returns the tasks that may run, first to last.
    fn sorted(&self) -> Vec<usize> {
        let mut all: Vec<_> = (0..self.tasks.len()).filter(|task| self.may_run(&self.tasks[*task])).collect();
        all.sort_by_key(|task| {
            let task = &self.tasks[*task];
            (Reverse(self.groups[task.group].priority), task.ready)
        });
        all
    }

    /// Returns the first task that was ready at the limit.
    fn next(&self, limit: Option<Stamp>) -> Option<usize> {
        let in_time = |task: &usize| limit.is_none() || self.tasks[*task].ready <= limit;
        self.sorted().into_iter().find(in_time)
    }

    /// Returns the expected duration of the ready groups: each takes as long as its first task.
    fn load(&self) -> i64 {
        let group_load = |group: usize| {
            let tasks = self.tasks.iter().filter(|task| task.group == group && self.may_run(task));
            tasks.min_by_key(|task| task.ready).map_or(0, |task| task.expected)
        };
        (0..self.groups.len()).map(group_load).sum()
    }
}

const CLOCKS: [ClockKind; 3] = ClockKind::ALL;

/// Distance between two times. Each stamp adds a number below it, so that no two timers are due at
/// the same time.
const UNIT: i64 = 1_000_000;

fn pick(index: Index, length: usize) -> Option<usize> {
    (length > 0).then(|| index.index(length))
}

fn step(queue: &mut ReadyQueue<Expected>, model: &mut Model, operation: Operation) -> TestCaseResult {
    match operation {
        Operation::AddGroup { priority, is_reentrant } => {
            let number = if is_reentrant { REENTRANT } else { 1 + model.groups.len() as u64 };
            let slot = queue.add_group(number, priority, 4);
            model.groups.push(ModelGroup { slot, priority, is_reentrant, running: 0 });
        }
        Operation::SetPriority { group, priority } => {
            let Some(group) = pick(group, model.groups.len()) else { return Ok(()) };
            queue.set_priority(model.groups[group].slot, priority);
            model.groups[group].priority = priority;
        }
        Operation::Enter { group } => {
            let Some(group) = pick(group, model.groups.len()) else { return Ok(()) };
            let serial = 1 + model.tasks.len() as u64;
            let expected = (serial % 5) as i64;
            let id = queue.enter(model.groups[group].slot, serial, |id, _| (Expected(expected), id));
            let task = ModelTask { id, group, expected, ready: None, timer: None, has_left: false };
            model.tasks.push(task);
        }
        Operation::Leave { task } => {
            let Some(task) = pick(task, model.tasks.len()) else { return Ok(()) };
            let task = &mut model.tasks[task];
            prop_assert_eq!(queue.leave(task.id).is_some(), !task.has_left);
            (task.has_left, task.ready, task.timer) = (true, None, None);
        }
        Operation::MakeReady { task, ago } => {
            let Some(task) = pick(task, model.tasks.len()) else { return Ok(()) };
            let key = model.stamp(model.now - ago * UNIT);
            queue.make_ready(model.tasks[task].id, key);
            if !model.tasks[task].has_left {
                model.tasks[task].ready.get_or_insert(key);
            }
        }
        Operation::Unready { task } => {
            let Some(task) = pick(task, model.tasks.len()) else { return Ok(()) };
            queue.unready(model.tasks[task].id);
            model.tasks[task].ready = None;
        }
        Operation::SetTimer { task, clock, after } => {
            let Some(task) = pick(task, model.tasks.len()) else { return Ok(()) };
            let due = after
                .map(|after| model.stamp(model.now + after * UNIT))
                .map(|due| due.time + due.order as i64);
            queue.set_timer(model.tasks[task].id, CLOCKS[clock], due);
            let task = &mut model.tasks[task];
            if !task.has_left {
                (task.ready, task.timer) = (None, due.map(|due| (clock, due)));
            }
        }
        running => return run_step(queue, model, running),
    }
    Ok(())
}

/// Applies the operations by which tasks run and time passes.
fn run_step(queue: &mut ReadyQueue<Expected>, model: &mut Model, operation: Operation) -> TestCaseResult {
    match operation {
        Operation::Fire { time } => {
            model.now += time * UNIT;
            for (clock, kind) in CLOCKS.into_iter().enumerate() {
                // The differences between the clocks.
                let to_steady = 1000 * clock as i64;
                queue.fire(kind, model.now, to_steady);
                for task in &mut model.tasks {
                    if let Some((_, due)) =
                        task.timer.take_if(|(its, due)| *its == clock && *due <= model.now)
                    {
                        task.ready.get_or_insert(Stamp::due(due + to_steady));
                    }
                }
            }
        }
        Operation::Pop { limited } => {
            let limit = limited.map(|ago| Stamp { time: model.now - ago * UNIT, order: u64::MAX });
            let expected = model.next(limit);
            let popped = queue.pop(limit);
            prop_assert_eq!(
                popped.map(|(key, _)| key),
                expected.map(|task| model.tasks[task].ready.unwrap()),
            );
            if let Some((_, index)) = popped {
                begin(queue, model, index);
            }
        }
        Operation::PopThis { task } => {
            let Some(task) = pick(task, model.tasks.len()) else { return Ok(()) };
            let (id, may_run) = (model.tasks[task].id, model.may_run(&model.tasks[task]));
            prop_assert_eq!(queue.pop_this(id), may_run);
            if may_run {
                begin(queue, model, id.index);
            }
        }
        Operation::End { turn, more } => {
            let Some(turn) = pick(turn, model.turns.len()) else { return Ok(()) };
            let (task, turn) = model.turns.swap_remove(turn);
            let next = more.then(|| model.stamp(model.now));
            prop_assert_eq!(queue.end(&turn, next).is_some(), !model.tasks[task].has_left);
            model.groups[model.tasks[task].group].running -= 1;
            if let Some(next) = next.filter(|_| !model.tasks[task].has_left) {
                model.tasks[task].ready.get_or_insert(next);
            }
        }
        _ => {}
    }
    Ok(())
}

fn begin(queue: &mut ReadyQueue<Expected>, model: &mut Model, index: u32) {
    let (turn, _) = queue.begin(index);
    let task = model.tasks.iter().position(|task| task.id.serial == turn.id.serial).unwrap();
    model.tasks[task].ready = None;
    model.groups[model.tasks[task].group].running += 1;
    model.turns.push((task, turn));
}

proptest! {
    /// At any time the queue hands out the first of a sorted list of all ready tasks in free
    /// groups, and knows their expected duration.
    #[test]
    fn is_a_sorted_list(operations in prop::collection::vec(operation(), 1..200)) {
        let (mut queue, mut model) = (ReadyQueue::new(true), Model::default());
        for operation in operations {
            step(&mut queue, &mut model, operation)?;
            let sorted = model.sorted();
            prop_assert_eq!(queue.groups().first_key(), sorted.first().map(|task| model.tasks[*task].ready.unwrap()));
            let mut ready: Vec<_> = queue.ready().map(|(_, id, _)| id.serial).collect();
            let mut expected: Vec<_> = sorted.iter().map(|task| model.tasks[*task].id.serial).collect();
            ready.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(ready, expected);
            prop_assert_eq!(queue.groups().load(), model.load());
            for task in &model.tasks {
                prop_assert_eq!(queue.groups().runs(task.id.serial), model.turns.iter().any(|(_, turn)| turn.id.serial == task.id.serial));
            }
        }
    }
}
