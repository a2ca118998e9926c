//! Callbacks before and after a change.

use super::{named, node};
use crate::support::{Gate, Log, finishes};
use sinew::error::ParameterError;
use sinew::parameters::NamedValue;
use sinew::prelude::*;
use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn callbacks_run_in_their_order_and_the_last_one_first() -> sinew::Result<()> {
    let node = node();
    let x = node.parameter("x").default(0).create()?;
    let log = Log::new();
    let mut kept = Vec::new();
    for name in ["one", "two"] {
        let (pre, on, post) = (log.pen(), log.pen(), log.pen());
        let (before, during, after) = (x.clone(), x.clone(), x.clone());
        kept.push(node.on_post_set_parameters(move |_| post.write(format!("post {name} {}", after.get())))?);
        kept.push(node.on_set_parameters(move |_| {
            on.write(format!("on {name} {}", during.get()));
            Ok(())
        })?);
        kept.push(node.on_pre_set_parameters(move |_| pre.write(format!("pre {name} {}", before.get())))?);
    }
    x.set(5)?;
    assert_eq!(log.lines(), ["pre two 0", "pre one 0", "on two 0", "on one 0", "post two 5", "post one 5"]);
    drop(kept.remove(0)); // the first post-set callback
    x.set(6)?;
    assert_eq!(log.lines().last().unwrap(), "post two 6");
    kept.clear();
    x.set(7)?;
    assert!(log.lines().is_empty());
    Ok(())
}

#[test]
fn the_first_refusal_ends_it() -> sinew::Result<()> {
    let node = node();
    let x = node.parameter("x").default(0).create()?;
    let log = Log::new();
    let (one, post) = (log.pen(), log.pen());
    let _one = node.on_set_parameters(move |_| {
        one.write("one");
        Ok(())
    })?;
    let _two = node.on_set_parameters(|_| Err("no".to_owned()))?;
    let _post = node.on_post_set_parameters(move |_| post.write("post"))?;
    assert!(x.set(1).unwrap_err().to_string().ends_with("has set nothing: no"));
    assert_eq!((log.lines(), x.get()), (vec![], 0));
    Ok(())
}

#[test]
fn a_pre_set_callback_edits_what_is_set() -> sinew::Result<()> {
    let node = node();
    let [a, b] = ["a", "b"].map(|name| node.parameter(name).default(0).create().unwrap());
    let editing = node.on_pre_set_parameters(|values: &mut Vec<NamedValue>| {
        values.retain(|one| one.name != "a");
        values.push(NamedValue::new("b", 5));
    })?;
    a.set(1)?;
    assert_eq!((a.get(), b.get()), (0, 5));
    drop(editing);
    let _empties = node.on_pre_set_parameters(Vec::clear)?;
    assert!(a.set(1).unwrap_err().to_string().contains("no parameter is to be set"));
    Ok(())
}

#[test]
fn a_callback_may_read_but_not_set() -> sinew::Result<()> {
    finishes(|| {
        let node = node();
        let x = node.parameter("x").default(1).create()?;
        let (inside, log) = (node.clone(), Log::new());
        let pen = log.pen();
        let check = move || {
            assert_eq!(inside.parameter_value("x"), Some(1.into()));
            assert_eq!(inside.list_parameters(&["x"], 0), ["x"]);
            let set = inside.set_parameter("x", 5).unwrap_err();
            let declared = inside.parameter("y").default(1).create().map(drop).unwrap_err();
            pen.write((matches!(set, ParameterError::InCallback { .. }), declared.to_string()));
        };
        let on = check.clone();
        let _pre = node.on_pre_set_parameters(move |_| check())?;
        let _on = node.on_set_parameters(move |_| {
            on();
            Ok(())
        })?;
        x.set(2)?;
        let lines = log.lines();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|(set, declared)| *set && declared.contains("can't declare or set any")));
        Ok(())
    })
}

#[test]
fn others_read_while_a_callback_takes_its_time_and_set_afterwards() -> sinew::Result<()> {
    let node = node();
    let x = node.parameter("x").default(0).create()?;
    let (entered, leave) = (Gate::new(), Gate::new());
    let (in_callback, go_on) = (entered.clone(), leave.clone());
    let _slow = node.on_set_parameters(move |values| {
        if values[0] == named("x", 1) {
            in_callback.open();
            go_on.wait();
        }
        Ok(())
    })?;
    thread::scope(|scope| {
        let first = scope.spawn(|| x.set(1));
        entered.wait();
        assert_eq!((x.get(), node.parameter_value("x")), (0, Some(0.into())));
        let second = scope.spawn(|| x.set(2)); // waits
        leave.open();
        first.join().unwrap().unwrap();
        second.join().unwrap().unwrap();
    });
    assert_eq!(x.get(), 2);
    Ok(())
}

#[test]
fn a_panic_in_a_callback_leaves_the_rest_working() -> sinew::Result<()> {
    let node = node();
    let x = node.parameter("x").default(0).create()?;
    let _panics = node.on_set_parameters(|values| {
        assert!(values[0] != named("x", 13), "not thirteen");
        Ok(())
    })?;
    let setting = x.clone();
    assert!(thread::spawn(move || setting.set(13)).join().is_err());
    x.set(14)?;
    assert_eq!(x.get(), 14);
    Ok(())
}

#[test]
fn a_panic_after_a_change_does_not_hide_it() -> sinew::Result<()> {
    let context = super::real_context();
    let node = context.node("n")?;
    let x = node.parameter("x").default(0).create()?;
    let events = context.node("asker")?.parameter_client("/n").events().create()?;
    let _panics = node.on_post_set_parameters(|_| panic!("on purpose"))?;
    let setting = x.clone();
    assert!(thread::spawn(move || setting.set(5)).join().is_err());
    let declaring = node.clone();
    assert!(thread::spawn(move || declaring.parameter("y").default(1).create()).join().is_err());
    assert_eq!(x.get(), 5);
    let told = std::iter::from_fn(|| events.take().map(|(event, _)| super::changes(&event)));
    assert_eq!(told.collect::<Vec<_>>(), ["~x", "+y"]);
    Ok(())
}

/// On another thread: the first callback waits until the second one is dropped.
#[test]
fn a_callback_does_not_start_after_its_handle_was_dropped() -> sinew::Result<()> {
    let node = node();
    let x = node.parameter("x").default(0).create()?;
    let (entered, leave, log) = (Gate::new(), Gate::new(), Log::new());
    let mut dropped = Vec::new();
    for kind in ["post", "on"] {
        let pen = log.pen();
        dropped.push(match kind {
            "on" => node.on_set_parameters(move |_| {
                pen.write(kind);
                Ok(())
            })?,
            _ => node.on_post_set_parameters(move |_| pen.write(kind))?,
        });
    }
    let (in_callback, go_on) = (entered.clone(), leave.clone());
    let _first = node.on_set_parameters(move |_| {
        in_callback.open();
        go_on.wait();
        Ok(())
    })?;
    thread::scope(|scope| {
        let setting = scope.spawn(|| x.set(1));
        entered.wait();
        dropped.clear();
        leave.open();
        setting.join().unwrap().unwrap();
    });
    assert_eq!((x.get(), log.lines()), (1, vec![]));
    Ok(())
}

/// Nodes whose callbacks set the parameters of the next node, each on a thread of its own, after
/// all have begun: the last one gets an error.
#[test]
fn callbacks_on_several_threads_that_set_in_a_circle_do_not_hang() -> sinew::Result<()> {
    finishes(|| {
        for count in [2, 3] {
            let context = super::real_context();
            let nodes: Vec<_> = (0..count).map(|n| context.node(&format!("n{n}")).unwrap()).collect();
            let parameter = |node: &Node| node.parameter("x").default(0).create().unwrap();
            let parameters: Vec<_> = nodes.iter().map(parameter).collect();
            let (all_began, log) = (Arc::new(Barrier::new(count)), Log::new());
            let link = |n: usize| {
                let (next, all_began, pen) =
                    (parameters[(n + 1) % count].clone(), all_began.clone(), log.pen());
                nodes[n].on_post_set_parameters(move |values| {
                    if values[0] == named("x", 1) {
                        all_began.wait();
                        pen.write(next.set(2));
                    }
                })
            };
            let _links: Vec<_> = (0..count).map(|n| link(n).unwrap()).collect();
            thread::scope(|scope| {
                let setting: Vec<_> =
                    parameters.iter().map(|parameter| scope.spawn(|| parameter.set(1))).collect();
                setting.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
            });
            let outcomes = log.lines();
            let is_refused = |one: &Result<_, _>| matches!(one, Err(ParameterError::InCallback { .. }));
            assert_eq!(outcomes.len(), count);
            assert_eq!(outcomes.iter().filter(|one| is_refused(one)).count(), 1, "{outcomes:?}");
            assert_eq!(outcomes.iter().filter(|one| one.is_ok()).count(), count - 1, "{outcomes:?}");
        }
        Ok(())
    })
}

/// As above, with the removal of each other's callbacks.
#[test]
fn callbacks_on_two_threads_that_close_each_others_callbacks_do_not_hang() -> sinew::Result<()> {
    finishes(|| {
        let context = super::real_context();
        let nodes = ["a", "b"].map(|name| context.node(name).unwrap());
        let parameters = nodes.each_ref().map(|node| node.parameter("x").default(0).create().unwrap());
        let both_began = Arc::new(Barrier::new(2));
        let closing = |from: &Node, of: &Node| {
            let unused = parking_lot::Mutex::new(Some(of.on_post_set_parameters(|_| {}).unwrap()));
            let both_began = both_began.clone();
            from.on_set_parameters(move |_| {
                both_began.wait();
                unused.lock().take().unwrap().close();
                Ok(())
            })
        };
        let _closing = (closing(&nodes[0], &nodes[1])?, closing(&nodes[1], &nodes[0])?);
        thread::scope(|scope| {
            let setting = parameters.each_ref().map(|parameter| scope.spawn(|| parameter.set(1)));
            setting.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        });
        Ok(())
    })
}

/// Two nodes whose callbacks set each other's parameters by service: each gets an error, and
/// nothing hangs.
#[test]
fn callbacks_that_set_each_others_parameters_do_not_hang() -> sinew::Result<()> {
    finishes(|| {
        let context = super::real_context();
        let nodes = ["a", "b"].map(|name| context.node(name).unwrap());
        let [a, b] = nodes.each_ref().map(|node| node.parameter("x").default(0).create().unwrap());
        let log = Log::new();
        let link = |from: &Node, to: &str| {
            let (client, pen) = (from.parameter_client(to), log.pen());
            from.on_post_set_parameters(move |values| {
                let ParameterValue::Integer(n) = values[0].value else { return };
                pen.write(
                    client
                        .set_one("x", n + 1)
                        .wait(Duration::from_secs(30))
                        .map_err(|error| error.to_string()),
                );
            })
        };
        use sinew::parameters::ParameterValue;
        let _links = (link(&nodes[0], "/b")?, link(&nodes[1], "/a")?);
        a.set(1)?;
        let lines = log.lines();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].as_ref().unwrap_err().contains("can't set any of them"));
        assert_eq!((lines[1].clone(), a.get(), b.get()), (Ok(()), 1, 2));
        Ok(())
    })
}
