//! Variables.

use crate::processes::{Directory, next_line, role, say, until};
use sinew_shm::raw::{Master, OpenError, Variable};
use std::sync::Barrier;

/// Larger than Morn's variates can be, and than a slot.
type Map = [u64; 3000];

#[test]
fn a_variable_is_never_torn_and_lives_as_long_as_its_master() {
    const TEST: &str = "variables::a_variable_is_never_torn_and_lives_as_long_as_its_master";
    if role().is_some() {
        let master = Variable::<Map>::master("map", &[0; 3000]).unwrap();
        say("master");
        for count in 1.. {
            master.write(&[count; 3000]).unwrap();
        }
    }
    let directory = Directory::new();
    let space = directory.space();
    let mut variable = Variable::<Map>::open_in(&space, "map").unwrap();
    assert_eq!(variable.read().unwrap(), None, "no master");
    for _ in 0..2 {
        let mut master = directory.start(TEST, "master");
        assert_eq!(master.next_line(), "master");
        // At once, unless the machine delays the master's process for long; and a slave that leaves
        // changes nothing.
        until("it has a value as soon as it has a master", || {
            let mut another = Variable::<Map>::open_in(&space, "map").unwrap();
            another.read().unwrap().is_some()
        });
        until("a value comes", || variable.read().unwrap().is_some());
        let mut last = 0;
        let mut distinct = 0;
        while distinct < 300 {
            let map = variable.read().unwrap().unwrap();
            assert!(map.iter().all(|&word| word == map[0]), "torn");
            assert!(map[0] >= last);
            distinct += u32::from(map[0] > last);
            last = map[0];
        }
        assert!(variable.read().unwrap().is_some(), "the current value, whenever it is asked for");
        master.kill();
        until("it goes with its master", || variable.read().unwrap().is_none());
    }
    drop((variable, space));
    directory.becomes_empty();
}

#[test]
fn slaves_map_it_read_only() {
    const TEST: &str = "variables::slaves_map_it_read_only";
    if role().is_some() {
        let mut variable = Variable::<Map>::open("map").unwrap();
        let master = variable.read().unwrap().unwrap().origin.writer;
        let of_master = format!("{master:016x}.");
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        for line in maps.lines().filter(|line| line.contains(&of_master) && !line.contains(".bells")) {
            say(line.split_whitespace().nth(1).unwrap());
        }
        say("all");
        return;
    }
    let directory = Directory::new();
    let space = directory.space();
    let _master = Variable::<Map>::master_in(&space, "map", &[5; 3000]).unwrap();
    let mut slave = directory.start(TEST, "slave");
    let mut rights = Vec::new();
    loop {
        match slave.next_line().as_str() {
            "all" => break,
            right => rights.push(right.to_owned()),
        }
    }
    assert!(rights.len() >= 3, "control, ring and chunk: {rights:?}");
    assert!(rights.iter().all(|right| right == "r--s"), "{rights:?}");
    slave.end();
}

#[test]
fn a_second_master_is_an_error_that_names_the_first() {
    const TEST: &str = "variables::a_second_master_is_an_error_that_names_the_first";
    if role().is_some() {
        // Asking as a slave first doesn't circumvent it.
        let mut variable = Variable::<u32>::open("mode").unwrap();
        assert_eq!(variable.read().unwrap().map(|found| found.value), Some(1));
        let refused = Variable::<u32>::master("mode", &2).map(drop).unwrap_err();
        say(&refused.to_string());
        next_line();
        drop(Variable::<u32>::master("mode", &3).unwrap());
        return;
    }
    let directory = Directory::new();
    let space = directory.space();
    let master = Variable::<u32>::master_in(&space, "mode", &1).unwrap();
    let refused = Variable::<u32>::master_in(&space, "mode", &2).map(drop).unwrap_err();
    assert!(matches!(refused, OpenError::Master { .. }), "{refused}");
    let mut other = directory.start(TEST, "other");
    let refused = other.next_line();
    let pid = format!("process {}", std::process::id());
    assert!(refused.contains("`mode`") && refused.contains(&pid), "{refused}");
    let mut slave = Variable::<u32>::open_in(&space, "mode").unwrap();
    assert_eq!(slave.read().unwrap().map(|found| found.value), Some(1), "nobody else wrote");
    drop(master);
    assert_eq!(slave.read().unwrap(), None);
    other.say("the master is gone");
    other.end();
}

#[test]
fn of_those_who_want_to_be_master_at_once_one_is() {
    let directory = Directory::new();
    let spaces: Vec<_> = (0..4).map(|_| directory.space()).collect();
    for round in 0..30u32 {
        let barrier = Barrier::new(spaces.len());
        let results: Vec<Result<Master<u32>, OpenError>> = std::thread::scope(|scope| {
            let all = spaces.iter().zip(0u32..).map(|(space, which)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    Variable::master_in(space, "x", &(round * 10 + which))
                })
            });
            let all: Vec<_> = all.collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let masters = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(masters, 1, "{results:?}");
        for refused in results.iter().filter_map(|result| result.as_ref().err()) {
            assert!(matches!(refused, OpenError::Master { .. }), "{refused}");
        }
    }
    drop(spaces);
    directory.becomes_empty();
}
