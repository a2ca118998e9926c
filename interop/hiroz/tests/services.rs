//! Calls, both ways.

use crate::network::{Network, PATIENCE, Spinning, each_way, wait_for};
use hiroz::Builder as _;
use hiroz_msgs::example_interfaces as theirs;
use sinew_interfaces::example_interfaces::srv as ours;

each_way! {
    fn hiroz_answers_sinew(network: &Network) {
        let node = network.their_node("server");
        let mut server = node.create_service::<theirs::srv::AddTwoInts>("/add").build().unwrap();
        let client = network.our_node("client").client::<ours::AddTwoInts>("/add").create().unwrap();
        assert!(client.wait_for_server(PATIENCE));
        let serving = std::thread::spawn(move || {
            let _node = node;
            for _ in 0..20 {
                let request = server.take_request().unwrap();
                let sum = request.message().a + request.message().b;
                request.reply_blocking(&theirs::AddTwoIntsResponse { sum }).unwrap();
            }
        });
        for number in 0..20 {
            let request = ours::AddTwoIntsRequest { a: number, b: -3 };
            assert_eq!(client.call(request, PATIENCE).unwrap().sum, number - 3);
        }
        serving.join().unwrap();
        wait_for("the server is gone", || (!client.wait_for_server(std::time::Duration::ZERO)).then_some(()));
    }

    fn sinew_answers_hiroz(network: &Network) {
        let context = network.context();
        let node = context.node("server").unwrap();
        node.server::<ours::AddTwoInts>("/add")
            .callback(|request: &ours::AddTwoIntsRequest| ours::AddTwoIntsResponse {
                sum: request.a + request.b,
            })
            .unwrap()
            .detach();
        let _spinning = Spinning::new(&context);
        let node = network.their_node("client");
        let client = node.create_client::<theirs::srv::AddTwoInts>("/add").build().unwrap();
        wait_for("Sinew's server", || {
            (network.ros.graph().count(hiroz::entity::EndpointKind::Service, "/add") == 1).then_some(())
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let call = |a, b| {
            let request = theirs::AddTwoIntsRequest { a, b };
            runtime.block_on(client.call_with_timeout(&request, PATIENCE))
        };
        // The token may come before the way is open: then hiroz's call ends without an answer.
        assert_eq!(wait_for("an answer", || call(40, 2).ok()).sum, 42);
        for number in 0..20 {
            assert_eq!(call(number, i64::MIN).unwrap().sum, i64::MIN + number);
        }
    }
}
