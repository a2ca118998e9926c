//! Benchmark program: encodes and decodes messages repeatedly, with Sinew or with another CDR
//! implementation.
//!
//! ```text
//! cargo run --release -p sinew-interfaces --example codec -- imu sinew encode 100000
//! ```
//!
//! Messages: `imu`, `odometry`, `transforms` (10), `joints` (20), `image` and `cloud` (8 MB each),
//! `image-1mb` and `cloud-1mb`. Codecs: `sinew`, `cdr`, `cdr-encoding`, and `memcpy` for the last
//! four messages. Operations: `encode`, `decode`, and for Sinew `decode-into` an existing value and
//! `view`. The last argument is the number of repetitions. The program prints the least time of 16
//! parts. To count instructions, take the difference of two runs under `valgrind --tool=callgrind`,
//! divided by the difference in repetitions.

mod peers;

use peers::Peer;
use sinew_interfaces::{nav_msgs, sensor_msgs, tf2_msgs};
use sinew_msg::cdr::Structure;
use sinew_msg::view::{Viewed, view};
use sinew_msg::{Encoding, Message};
use std::env;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::{Duration, Instant};

const MEGABYTE: usize = 1 << 20;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let &[message, codec, way, times] = words.as_slice() else {
        eprintln!("usage: codec <message> <codec> <way> <times>; see the top of the example");
        std::process::exit(2);
    };
    let run = Run { codec, way, times: times.parse().expect("the last argument is a number") };
    match message {
        "imu" => run.small::<_, peers::Imu>(&imu()),
        "odometry" => run.small::<_, peers::Odometry>(&odometry()),
        "transforms" => run.small::<_, peers::TFMessage>(&transforms()),
        "joints" => run.small::<_, peers::JointState>(&joints()),
        "image" => run.large(&image(8 * MEGABYTE), |image| &image.data),
        "image-1mb" => run.large(&image(MEGABYTE), |image| &image.data),
        "cloud" => run.large(&cloud(8 * MEGABYTE), |cloud| &cloud.data),
        "cloud-1mb" => run.large(&cloud(MEGABYTE), |cloud| &cloud.data),
        other => panic!("there is no message `{other}`"),
    }
}

fn imu() -> sensor_msgs::msg::Imu {
    let mut imu = sensor_msgs::msg::Imu { orientation_covariance: [0.5; 9], ..Default::default() };
    imu.header.frame_id = "imu_link".to_owned();
    imu.linear_acceleration.z = 9.81;
    imu
}

fn odometry() -> nav_msgs::msg::Odometry {
    let mut odometry =
        nav_msgs::msg::Odometry { child_frame_id: "base_link".to_owned(), ..Default::default() };
    odometry.header.frame_id = "odom".to_owned();
    odometry.pose.covariance[35] = 0.1;
    odometry
}

fn transforms() -> tf2_msgs::msg::TFMessage {
    let mut message = tf2_msgs::msg::TFMessage { transforms: vec![Default::default(); 10] };
    for (index, transform) in message.transforms.iter_mut().enumerate() {
        transform.header.frame_id = "base_link".to_owned();
        transform.child_frame_id = format!("link_{index}");
    }
    message
}

fn joints() -> sensor_msgs::msg::JointState {
    let name = (0..20).map(|joint| format!("joint_{joint}")).collect();
    let [position, velocity, effort] = [1.0, 2.0, 3.0].map(|value| vec![value; 20]);
    sensor_msgs::msg::JointState { name, position, velocity, effort, ..Default::default() }
}

fn image(length: usize) -> sensor_msgs::msg::Image {
    let (width, height) = (2048, 4096);
    let encoding = "mono8".to_owned();
    sensor_msgs::msg::Image {
        height,
        width,
        encoding,
        step: width,
        data: vec![7; length],
        ..Default::default()
    }
}

fn cloud(length: usize) -> sensor_msgs::msg::PointCloud2 {
    let field = |name: &str| sensor_msgs::msg::PointField { name: name.to_owned(), ..Default::default() };
    let fields = ["x", "y", "z", "intensity"].map(field).to_vec();
    sensor_msgs::msg::PointCloud2 { fields, point_step: 16, data: vec![7; length], ..Default::default() }
}

struct Run<'a> {
    codec: &'a str,
    way: &'a str,
    times: u32,
}

impl Run<'_> {
    fn small<T, P: Peer>(&self, value: &T)
    where
        T: Message + Structure + Viewed + Default + Debug + PartialEq,
    {
        let mut buffer = encode(value);
        let image = buffer.clone();
        let peer = P::from_encoded(&image);
        match (self.codec, self.way) {
            ("cdr", "encode") => self.measure(|| peer.encode_cdr(black_box(&mut buffer))),
            ("cdr", "decode") => self.measure(|| drop(black_box(P::decode_cdr(black_box(&image))))),
            ("cdr-encoding", "encode") => self.measure(|| peer.encode_cdr_encoding(black_box(&mut buffer))),
            ("cdr-encoding", "decode") => {
                self.measure(|| drop(black_box(P::decode_cdr_encoding(black_box(&image)))));
            }
            _ => self.sinew(value, &mut buffer),
        }
        assert_eq!(buffer, image, "all encode the same bytes");
    }

    fn large<T>(&self, value: &T, data: impl Fn(&T) -> &Vec<u8>)
    where
        T: Message + Structure + Viewed + Default + Debug + PartialEq,
    {
        let mut buffer = encode(value);
        if self.codec == "memcpy" {
            let end = data(value).len();
            self.measure(|| black_box(&mut buffer)[..end].copy_from_slice(black_box(data(value))));
        } else {
            self.sinew(value, &mut buffer);
        }
    }

    fn sinew<T>(&self, value: &T, buffer: &mut [u8])
    where
        T: Message + Structure + Viewed + Default + Debug + PartialEq,
    {
        let encoding = encoding::<T>();
        let image = buffer.to_vec();
        match (self.codec, self.way) {
            ("sinew", "encode") => self.measure(|| {
                let value = black_box(value);
                let size = (encoding.size)(value);
                (encoding.encode)(value, &mut buffer[..size]);
            }),
            ("sinew", "decode") => self.measure(|| drop(black_box((encoding.decode)(black_box(&image))))),
            ("sinew", "decode-into") => {
                let mut value = T::default();
                self.measure(|| (encoding.decode_into)(black_box(&image), &mut value).expect("its image"));
            }
            ("sinew", "view") => self.measure(|| {
                black_box(view::<T>(black_box(&image)).is_ok());
            }),
            other => panic!("there is nothing to measure for {other:?}"),
        }
    }

    fn measure(&self, mut work: impl FnMut()) {
        const PARTS: u32 = 16;
        let times = self.times.div_ceil(PARTS);
        let least = (0..PARTS).map(|_| time(times, &mut work)).min().unwrap_or_default();
        println!("{:.1} ns", least.as_secs_f64() * 1e9 / f64::from(times));
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing here runs in virtual time")]
fn time(times: u32, work: &mut impl FnMut()) -> Duration {
    let begin = Instant::now();
    (0..times).for_each(|_| work());
    begin.elapsed()
}

fn encoding<T: Message>() -> &'static Encoding<T> {
    T::ENCODING.expect("generated types have one")
}

fn encode<T: Message>(value: &T) -> Vec<u8> {
    let mut image = vec![0; (encoding::<T>().size)(value)];
    (encoding::<T>().encode)(value, &mut image);
    image
}
