//! Messages of many types, both ways, field by field.

use crate::network::{Network, PATIENCE, each_way, wait_for};
use crate::{ours, theirs};
use hiroz::Builder as _;
use std::time::Duration;

/// How long is waited for a message before it is published again: what is published before both
/// sides know that they match is lost, as between ROS 2's nodes.
const AGAIN: Duration = Duration::from_millis(500);

/// Has a value of each type go from Sinew to hiroz, and another way round.
macro_rules! pass {
    ($network:expr, $($name:ident: $type:ident,)*) => {
        let (our_node, their_node) = ($network.our_node("ours"), $network.their_node("theirs"));
        $({
            let topic = concat!("/to_hiroz/", stringify!($name));
            let subscription = their_node.create_sub::<theirs::$type>(topic).build().unwrap();
            let publisher = our_node.publisher::<ours::$type>(topic).create().unwrap();
            assert!(publisher.wait_for_subscribers(1, PATIENCE), "{topic}");
            let received = wait_for(topic, || {
                publisher.publish(ours::values::$name::make()).unwrap();
                subscription.recv_timeout(AGAIN).ok()
            });
            theirs::values::$name::check(&received);

            let topic = concat!("/to_sinew/", stringify!($name));
            let subscription = our_node.subscription::<ours::$type>(topic).create().unwrap();
            let publisher = their_node.create_pub::<theirs::$type>(topic).build().unwrap();
            wait_for(topic, || (subscription.publisher_count() == 1).then_some(()));
            let (received, info) = wait_for(topic, || {
                publisher.publish(&theirs::values::$name::make()).unwrap();
                let begin = std::time::Instant::now();
                loop {
                    let taken = subscription.take();
                    if taken.is_some() || begin.elapsed() > AGAIN {
                        return taken;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            ours::values::$name::check(&received);
            assert_eq!(info.transport(), sinew::msg::Transport::Network, "{topic}");
        })*
    };
}

each_way! {
    fn every_type_passes(network: &Network) {
        pass! {
            network,
            flag: Bool,
            letter: Char,
            text_message: Text,
            nothing_in_it: Text,
            color: ColorRGBA,
            numbers: Float64MultiArray,
            byte_array: UInt8MultiArray,
            twist: Twist,
            pose: PoseStamped,
            transform: TransformStamped,
            uncertain_pose: PoseWithCovarianceStamped,
            imu: Imu,
            scan: LaserScan,
            joints: JointState,
            fix: NavSatFix,
            camera: CameraInfo,
            cloud: PointCloud2,
            compressed: CompressedImage,
            image: Image,
            odometry: Odometry,
            path: Path,
            grid: OccupancyGrid,
        }
    }

    fn empty_messages(network: &Network) {
        let (our_node, their_node) = (network.our_node("ours"), network.their_node("theirs"));
        let subscription = their_node.create_sub::<theirs::Empty>("/to_hiroz").build().unwrap();
        let publisher = our_node.publisher::<ours::Empty>("/to_hiroz").create().unwrap();
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        wait_for("an empty message for hiroz", || {
            publisher.publish(ours::Empty::default()).unwrap();
            subscription.recv_timeout(AGAIN).ok()
        });
        // In ROS 2 a message without fields is one byte. hiroz reads none and writes none, so what
        // it publishes is too short for its type: it comes, and subscriptions here leave it out.
        let subscription = our_node.subscription::<ours::Empty>("/to_sinew").create().unwrap();
        let publisher = their_node.create_pub::<theirs::Empty>("/to_sinew").build().unwrap();
        wait_for("an empty message of hiroz", || {
            publisher.publish(&theirs::Empty::default()).unwrap();
            let topics = network.gateway.statistics().topics;
            let (.., counts) = topics.into_iter().find(|(name, ..)| name == "/to_sinew")?;
            (counts.received > 0).then_some(())
        });
        assert!(subscription.take().is_none());
    }

    fn two_publishers_of_hiroz(network: &Network) {
        const COUNT: u32 = 50;
        let (our_node, their_node) = (network.our_node("ours"), network.their_node("theirs"));
        let all = sinew::QoS::new().keep_all();
        let subscription = our_node.subscription::<ours::PoseStamped>("/pose").qos(all).create().unwrap();
        let publishers =
            [(); 2].map(|()| their_node.create_pub::<theirs::PoseStamped>("/pose").build().unwrap());
        wait_for("both", || (subscription.publisher_count() == 2).then_some(()));
        let publish = |which: usize, number: u32| {
            let mut pose = theirs::PoseStamped::default();
            pose.header.stamp.sec = which as i32;
            pose.header.stamp.nanosec = number;
            publishers[which].publish(&pose).unwrap();
        };
        for which in 0..2 {
            wait_for("its way is open", || {
                publish(which, 0);
                subscription.take().filter(|(pose, _)| pose.header.stamp.sec == which as i32)
            });
        }
        for number in 1..=COUNT {
            (0..2).for_each(|which| publish(which, number));
        }
        let mut last = [0; 2];
        while last != [COUNT; 2] {
            let (pose, _) = wait_for("the rest", || subscription.take());
            let stamp = &pose.header.stamp;
            if stamp.nanosec != 0 {
                let last = &mut last[stamp.sec as usize];
                *last += 1;
                assert_eq!(stamp.nanosec, *last, "in its publisher's order, each once");
            }
        }
        // hiroz's gids aren't made from its tokens, as rmw_zenoh's are: the gateway takes a
        // publisher for one of the tokens, and still tells the two apart.
        wait_for("they are counted", || {
            let topics = network.gateway.statistics().topics;
            let (.., counts) = topics.into_iter().find(|(name, ..)| name == "/pose")?;
            assert_eq!((counts.missed, counts.refused), (0, 0));
            (counts.received >= u64::from(2 * COUNT)).then_some(())
        });
    }
}
