//! `/statistics`.

use crate::support::{Number, PATIENCE, Place, Room};
use sinew::View;
use sinew::erased::MessageType;
use sinew::error::CreateError;
use sinew::introspection::TopicStatistics;
use sinew::msg::{GenericType, SerializedMessage};
use sinew::prelude::*;
use sinew::time::Time;
use sinew_interfaces::builtin_interfaces;
use sinew_interfaces::sensor_msgs::msg::LaserScan;
use sinew_interfaces::statistics_msgs::msg::{MetricsMessage, StatisticDataType};
use sinew_interfaces::std_msgs::msg::Header;

const MS: i64 = 1_000_000;

fn scan(stamp: Time) -> LaserScan {
    let header = Header { stamp: stamp.to_msg(), ..Header::default() };
    LaserScan { header, ..LaserScan::default() }
}

/// What the next two messages say: age and period, each as its count, mean, least, most and
/// deviation; and the window.
fn next(statistics: &Subscription<MetricsMessage>) -> ([[f64; 5]; 2], [i64; 2]) {
    let mut window = [0; 2];
    let both = ["message_age", "message_period"].map(|source| {
        let (message, _) = statistics.take().unwrap();
        let about = (message.measurement_source_name.as_str(), message.unit.as_str());
        assert_eq!((about, message.metrics_source.as_str()), (("room", "ms"), source));
        let nanoseconds = |time: &builtin_interfaces::msg::Time| Time::from(*time).nanoseconds();
        window = [nanoseconds(&message.window_start), nanoseconds(&message.window_stop)];
        [
            StatisticDataType::STATISTICS_DATA_TYPE_SAMPLE_COUNT,
            StatisticDataType::STATISTICS_DATA_TYPE_AVERAGE,
            StatisticDataType::STATISTICS_DATA_TYPE_MINIMUM,
            StatisticDataType::STATISTICS_DATA_TYPE_MAXIMUM,
            StatisticDataType::STATISTICS_DATA_TYPE_STDDEV,
        ]
        .map(|wanted| message.statistics.iter().find(|point| point.data_type == wanted).unwrap().data)
    });
    (both, window)
}

fn statistics_of(room: &Room, topic: &str) -> Subscription<MetricsMessage> {
    room.node.subscription(topic).qos(QoS::default().keep_last(100)).create().unwrap()
}

#[test]
fn age_and_period_are_published_each_second() {
    let room = Room::new();
    let statistics = statistics_of(&room, "/statistics");
    let builder = room.node.subscription("scans").topic_statistics(TopicStatistics::default());
    let _scans = builder.callback(|_: &LaserScan| {}).unwrap();
    let publisher = room.node.publisher("scans").create().unwrap();
    let begin = room.node.now().nanoseconds();
    for age in [10, 20, 30] {
        publisher.publish(scan(Time::from_nanoseconds(room.node.now().nanoseconds() - age * MS))).unwrap();
        room.advance(100 + u64::try_from(age).unwrap());
    }
    publisher.publish(scan(Time::from_nanoseconds(0))).unwrap(); // it says nothing of its age
    room.advance(1000 - 360);
    let ([age, period], window) = next(&statistics);
    assert_eq!(window, [begin, begin + 1000 * MS]);
    assert_eq!(age[..4], [3.0, 20.0, 10.0, 30.0]);
    assert!((age[4] - (200.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{}", age[4]);
    assert_eq!(period[..4], [3.0, 120.0, 110.0, 130.0]);
    assert!(statistics.take().is_none());

    // Nothing came: that is reported, too.
    room.advance(1000);
    let ([age, period], window) = next(&statistics);
    assert_eq!(window, [begin + 1000 * MS, begin + 2000 * MS]);
    for none in [age, period] {
        assert_eq!(none[0], 0.0);
        assert!(none[1..].iter().all(|one| one.is_nan()));
    }

    // The period goes on over the end of a window.
    publisher.publish(scan(room.node.now())).unwrap();
    room.advance(1000);
    let ([age, period], _) = next(&statistics);
    assert_eq!((age, period), ([1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1640.0, 1640.0, 1640.0, 0.0]));
}

#[test]
fn what_has_no_header_is_as_old_as_its_publication_and_counts_when_it_is_taken() {
    let room = Room::new();
    let statistics = statistics_of(&room, "/room/numbers/statistics");
    let options = TopicStatistics::default().topic("~/numbers/statistics").period(Duration::from_millis(50));
    let numbers = room.node.subscription::<Number>("numbers").topic_statistics(options).create().unwrap();
    let publisher = room.node.publisher("numbers").create().unwrap();
    for _ in 0..3 {
        publisher.publish(Number(1)).unwrap();
    }
    room.advance(7);
    drop((numbers.take().unwrap(), numbers.take_unique().unwrap()));
    room.advance(13);
    drop(numbers.take_sample().unwrap());
    room.advance(30);
    let ([age, period], _) = next(&statistics);
    assert_eq!((age[0], age[2], age[3]), (3.0, 7.0, 20.0));
    assert_eq!((period[0], period[2], period[3]), (2.0, 0.0, 13.0));
}

#[test]
fn a_type_that_is_known_by_its_description_has_the_stamp_of_its_header() {
    let room = Room::new();
    let statistics = statistics_of(&room, "/statistics");
    let description = LaserScan::ENCODING.unwrap().description.unwrap().describe().unwrap();
    let known = MessageType::known(GenericType::described(description).unwrap());
    let scans = room.node.erased_subscription("scans", known).topic_statistics(TopicStatistics::default());
    let scans = scans.create_erased().unwrap();
    let publisher = room.node.publisher("scans").create().unwrap();
    publisher.publish(scan(Time::from_nanoseconds(room.node.now().nanoseconds() - 30 * MS))).unwrap();
    assert!(scans.take().unwrap().0.is_encoded());
    room.advance(1000);
    let ([age, _], _) = next(&statistics);
    assert_eq!(age[..4], [1.0, 30.0, 30.0, 30.0]);
}

#[test]
fn what_is_viewed_is_measured_where_it_lies() {
    let place = Place::new();
    let (here, there) = (place.context(), place.context());
    let node = here.node("room").unwrap();
    // Time stands still, so that ages are exact.
    here.set_ros_time(Some(Time::from_nanoseconds(5000 * MS)));
    let statistics = node.subscription::<MetricsMessage>("/statistics").create().unwrap();
    let options = TopicStatistics::default().period(Duration::from_millis(20));
    let (sender, came) = std::sync::mpsc::channel();
    let builder = node.subscription("scans").topic_statistics(options);
    let _scans =
        builder.callback(move |scan: View<'_, LaserScan>| sender.send(scan.header.stamp.sec)).unwrap();
    let known = LaserScan::ENCODING.unwrap();
    let known = GenericType::new(known.name, known.hash).unwrap();
    let far = there.node("far").unwrap().generic_publisher("scans", known).create().unwrap();
    assert!(far.wait_for_subscribers(1, PATIENCE));
    let encoding = LaserScan::ENCODING.unwrap();
    let value = scan(Time::from_nanoseconds(2000 * MS));
    let mut encoded = vec![0; (encoding.size)(&value)];
    (encoding.encode)(&value, &mut encoded);
    far.publish(SerializedMessage::new(encoded.clone())).unwrap();
    // The same with the most significant byte first: its stamp is in it, the rest is of no matter here.
    encoded[1] = 0;
    encoded[4..8].copy_from_slice(&1_i32.to_be_bytes());
    encoded[8..].fill(0);
    far.publish(SerializedMessage::new(encoded)).unwrap();
    let executor = Executor::single();
    executor.add(&here).unwrap();
    let begin = Time::steady();
    let (mut stamps, mut ages) = (Vec::new(), Vec::new());
    while ages.len() < 2 {
        assert!(Time::steady() - begin < PATIENCE, "{stamps:?} {ages:?}");
        executor.spin_some().unwrap();
        stamps.extend(came.try_iter());
        while let Some((message, _)) = statistics.take() {
            let of = |wanted| message.statistics.iter().find(|point| point.data_type == wanted).unwrap().data;
            let count = of(StatisticDataType::STATISTICS_DATA_TYPE_SAMPLE_COUNT);
            if message.metrics_source == "message_age" && count > 0.0 {
                let least = of(StatisticDataType::STATISTICS_DATA_TYPE_MINIMUM);
                let most = of(StatisticDataType::STATISTICS_DATA_TYPE_MAXIMUM);
                ages.extend(if count > 1.0 { vec![least, most] } else { vec![least] });
            }
        }
        std::thread::yield_now();
    }
    assert_eq!((stamps, ages), (vec![2, 1], vec![3000.0, 4000.0]));
}

#[test]
fn a_subscription_that_is_closed_publishes_no_more() {
    let room = Room::new();
    let statistics = statistics_of(&room, "/statistics");
    let make = || {
        let builder = room.node.subscription("numbers").topic_statistics(TopicStatistics::default());
        builder.callback(|_: &Number| {}).unwrap()
    };
    let (closed, dropped) = (make(), make());
    room.advance(1000);
    assert_eq!(statistics.statistics().waiting, 4);
    closed.close();
    drop(dropped);
    assert_eq!(statistics.publisher_count(), 0);
    room.advance(5000);
    assert_eq!(statistics.statistics().waiting, 4);
}

#[test]
fn wrong_options_are_errors_and_nothing_is_left() {
    let room = Room::new();
    let make = |options| room.node.subscription::<Number>("numbers").topic_statistics(options).create();
    let error = make(TopicStatistics::default().period(Duration::ZERO)).unwrap_err();
    assert!(matches!(error, CreateError::Period { .. }), "{error}");
    let error = make(TopicStatistics::default().topic("no topic")).unwrap_err();
    assert!(error.to_string().contains("no topic"), "{error}");
    let publisher = room.node.publisher::<Number>("numbers").create().unwrap();
    assert_eq!(publisher.subscription_count(), 0);
}
