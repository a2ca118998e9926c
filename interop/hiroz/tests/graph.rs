//! Who sees whom.

use crate::network::{Network, PATIENCE, each_way, wait_for};
use crate::{ours, theirs};
use hiroz::Builder as _;
use hiroz::entity::EndpointKind;
use sinew_interfaces::example_interfaces::srv::AddTwoInts;

each_way! {
    fn hiroz_sees_sinews_nodes_and_ends(network: &Network) {
        let context = network.context();
        let node = context.node_in("/robot", "walker").unwrap();
        let publisher = node.publisher::<ours::Twist>("speed").create().unwrap();
        let subscription = node.subscription::<ours::Text>("/orders").create().unwrap();
        let client = node.client::<AddTwoInts>("/add").create().unwrap();
        let graph = network.ros.graph();
        let has = |kind, name: &str| graph.count(kind, name) == 1;
        // `node_exists` stays true when a node has gone.
        let walker = ("walker".to_owned(), "/robot".to_owned());
        let has_node = || graph.get_node_names().contains(&walker);
        wait_for("all of it", || {
            (has_node()
                && has(EndpointKind::Publisher, "/robot/speed")
                && has(EndpointKind::Subscription, "/orders")
                && has(EndpointKind::Client, "/add"))
            .then_some(())
        });
        // rmw_zenoh says types by their names in ROS 2; hiroz as they are on the wire.
        let types = graph.get_topic_names_and_types();
        for (name, kind) in [
            ("/robot/speed", "geometry_msgs::msg::dds_::Twist_"),
            ("/orders", "std_msgs::msg::dds_::String_"),
        ] {
            assert!(types.contains(&(name.to_owned(), kind.to_owned())), "{types:?}");
        }
        drop(publisher);
        wait_for("the publisher is gone", || {
            (!has(EndpointKind::Publisher, "/robot/speed")).then_some(())
        });
        assert!(has(EndpointKind::Subscription, "/orders"), "the others stay");
        drop((subscription, client, node, context));
        wait_for("all is gone", || {
            let ends = graph.count(EndpointKind::Subscription, "/orders") + graph.count(EndpointKind::Client, "/add");
            (ends == 0 && !has_node()).then_some(())
        });
    }

    fn sinew_sees_hirozs_ends(network: &Network) {
        let node = network.our_node("ours");
        let subscription = node.subscription::<ours::Twist>("/speed").create().unwrap();
        let publisher = node.publisher::<ours::Text>("/orders").create().unwrap();
        let client = node.client::<AddTwoInts>("/add").create().unwrap();
        let counts = || (subscription.publisher_count(), publisher.subscription_count());
        assert_eq!(counts(), (0, 0));
        let theirs_node = network.their_node("walker");
        let their_publishers =
            [(); 2].map(|()| theirs_node.create_pub::<theirs::Twist>("/speed").build().unwrap());
        let their_subscription = theirs_node.create_sub::<theirs::Text>("/orders").build().unwrap();
        let other_type = theirs_node.create_sub::<theirs::Twist>("/orders").build().unwrap();
        wait_for("all of it", || (counts() == (2, 1)).then_some(()));
        let server = theirs_node
            .create_service::<hiroz_msgs::example_interfaces::srv::AddTwoInts>("/add")
            .build()
            .unwrap();
        assert!(client.wait_for_server(PATIENCE));
        assert_eq!(counts(), (2, 1), "one of another type is none of it");
        let [one, other] = their_publishers;
        drop(one);
        wait_for("one publisher is gone", || (counts() == (1, 1)).then_some(()));
        drop((other, their_subscription, other_type, server));
        wait_for("all is gone", || {
            (counts() == (0, 0) && !client.wait_for_server(std::time::Duration::ZERO)).then_some(())
        });
    }
}
