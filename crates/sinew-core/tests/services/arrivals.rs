//! Listeners of servers and clients with callbacks that an executor runs: they are called when a
//! request or a response arrives, before the executor turns to it.

use crate::support;

use sinew::prelude::*;
use sinew::service::CallResult;
use std::sync::mpsc::{Receiver, channel};
use support::pair::{PATHS, Pair};
use support::tasks::block_on;
use support::{Number, Numbers, PATIENCE, wait_for};

/// Waits until a listener was notified of `count` arrivals.
fn expect(news: &Receiver<u64>, count: u64) {
    let mut notified = 0;
    while notified < count {
        notified += news.recv_timeout(PATIENCE).expect("the listener is notified");
    }
    assert_eq!(notified, count);
}

/// The server's executor exists, but nothing spins it until the listener was notified.
#[test]
fn a_server_with_a_callback_notifies_its_listener_of_each_request() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let executor = Executor::single();
        executor.add(&pair.owner)?;
        let server = pair.owner.server::<Numbers>("double").callback(|n: &Number| Number(2 * n.0))?;
        let client = pair.asker.client::<Numbers>("double").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let (bell, news) = channel();
        server.set_listener(move |count| bell.send(count).expect("it arrives"));
        let calls: Vec<_> = (0..3).map(|number| client.call_async(Number(number))).collect();
        expect(&news, 3);
        assert_eq!(server.statistics().waiting, 3, "no callback has run");
        let (next_bell, next_news) = channel();
        server.set_listener(move |count| next_bell.send(count).expect("it arrives"));
        assert_eq!(next_news.recv_timeout(PATIENCE), Ok(3), "those that wait");
        assert!(news.recv().is_err(), "the former listener is dropped");
        wait_for("the answers", || {
            executor.spin_some().expect("it spins");
            (server.statistics().answered == 3).then_some(())
        });
        for (number, call) in (0..).zip(calls) {
            assert_eq!(block_on(call)?.0, 2 * number);
        }
        server.clear_listener();
        assert!(next_news.recv().is_err(), "a listener that is cleared is dropped");
        let call = client.call_async(Number(21));
        assert_eq!(executor.spin_until(call)?.unwrap().0, 42, "the executor is notified again");
    }
    Ok(())
}

#[test]
fn a_client_notifies_its_listener_of_responses_with_a_callback() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let executor = Executor::single();
        executor.add(&pair.asker)?;
        let server =
            pair.owner.server::<Numbers>("double").immediate_callback(|n: Number| Number(2 * n.0))?;
        let client = pair.asker.client::<Numbers>("double").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let (bell, news) = channel();
        client.set_listener(move |count| bell.send(count).expect("it arrives"));
        let (answer, answers) = channel();
        for number in 0..3 {
            let answer = answer.clone();
            client.call_then(Number(number), move |result: CallResult<Numbers>| {
                answer.send(result.map(|doubled| doubled.0).ok()).expect("it arrives");
            })?;
        }
        expect(&news, 3);
        assert!(answers.try_recv().is_err(), "no callback has run");
        assert_eq!(block_on(client.call_async(Number(5)))?.0, 10);
        assert!(news.try_recv().is_err(), "a future gets its response without the listener");
        let (next_bell, next_news) = channel();
        client.set_listener(move |count| next_bell.send(count).expect("it arrives"));
        assert_eq!(next_news.recv_timeout(PATIENCE), Ok(3), "those that wait");
        assert!(news.recv().is_err(), "the former listener is dropped");
        while executor.spin_some()? > 0 {}
        assert_eq!(answers.try_iter().collect::<Vec<_>>(), [Some(0), Some(2), Some(4)]);
        client.call_then(Number(1), |_: CallResult<Numbers>| ())?;
        expect(&next_news, 1);
        server.close();
        client.close();
        assert!(next_news.recv().is_err(), "a client that ends drops its listener");
    }
    Ok(())
}

/// The listener owns the server: closing it drops both.
#[test]
fn a_servers_listener_may_close_the_server() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let executor = Executor::single();
        executor.add(&pair.owner)?;
        let server = pair.owner.server::<Numbers>("double").callback(|n: &Number| Number(2 * n.0))?;
        let client = pair.asker.client::<Numbers>("double").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let closed = server.clone();
        server.set_listener(move |_| closed.clone().close());
        assert!(block_on(client.call_async(Number(1))).is_err());
        wait_for("its end", || server.is_closed().then_some(()));
    }
    Ok(())
}
