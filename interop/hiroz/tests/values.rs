//! One value of each type. This file is compiled twice, by `types` of Sinew and by those of hiroz:
//! `super` says which types the names stand for. So both have the same values, and neither's code
//! was used to make or to compare the other's.

use super::types::*;

/// Lists per type how many elements its sequences of messages have, and all its fields' values.
macro_rules! values {
    ($($name:ident: $type:ident ($($($list:ident).+: $count:expr),*) {
        $($first:ident $(.$rest:ident)* $([$at:expr] $(.$more:ident)*)? = $value:expr;)*
    })*) => {$(
        pub(crate) mod $name {
            use super::*;

            pub(crate) fn make() -> $type {
                let mut value = $type::default();
                $(value.$($list).+.resize_with($count, Default::default);)*
                $(value.$first$(.$rest)*$([$at]$(.$more)*)? = $value;)*
                value
            }

            pub(crate) fn check(value: &$type) {
                let expected = make();
                $(assert_eq!(value.$($list).+.len(), $count, stringify!($($list).+));)*
                $(assert_eq!(
                    value.$first$(.$rest)*$([$at]$(.$more)*)?,
                    expected.$first$(.$rest)*$([$at]$(.$more)*)?,
                    stringify!($type.$first$(.$rest)*$([$at]$(.$more)*)?)
                );)*
            }
        }
    )*};
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// An array in which no element is like another.
fn rising<const N: usize>(first: f64) -> [f64; N] {
    std::array::from_fn(|at| first + at as f64 / 8.0)
}

values! {
    flag: Bool() { data = true; }
    letter: Char() { data = 65; }
    text_message: Text() { data = text("naïve café, 日本語"); }
    nothing_in_it: Text() { data = text(""); }
    color: ColorRGBA() { r = 0.25; g = 0.5; b = 0.75; a = 1.0; }
    numbers: Float64MultiArray(layout.dim: 2) {
        layout.dim[0].label = text("rows");
        layout.dim[0].size = 2;
        layout.dim[0].stride = 6;
        layout.dim[1].label = text("columns of it");
        layout.dim[1].size = 3;
        layout.dim[1].stride = 3;
        layout.data_offset = 1;
        data = vec![0.0, -1.5, 2.5, f64::MAX, f64::MIN_POSITIVE, 6.0, 7.0];
    }
    byte_array: UInt8MultiArray(layout.dim: 1) {
        layout.dim[0].label = text("b");
        data = bytes((0..=255).collect());
    }
    twist: Twist() {
        linear.x = 1.0;
        linear.y = -2.0;
        linear.z = 3.5;
        angular.x = 0.1;
        angular.y = 0.2;
        angular.z = -0.3;
    }
    pose: PoseStamped() {
        header.stamp.sec = -7;
        header.stamp.nanosec = 999_999_999;
        header.frame_id = text("map");
        pose.position.x = 1.25;
        pose.position.y = 2.25;
        pose.position.z = 3.25;
        pose.orientation.x = 0.5;
        pose.orientation.y = -0.5;
        pose.orientation.z = 0.25;
        pose.orientation.w = -0.25;
    }
    transform: TransformStamped() {
        header.stamp.sec = 1;
        header.stamp.nanosec = 2;
        header.frame_id = text("odom");
        child_frame_id = text("base_link");
        transform.translation.x = 1.0;
        transform.translation.y = 2.0;
        transform.translation.z = 3.0;
        transform.rotation.x = 4.0;
        transform.rotation.y = 5.0;
        transform.rotation.z = 6.0;
        transform.rotation.w = 7.0;
    }
    uncertain_pose: PoseWithCovarianceStamped() {
        header.frame_id = text("m");
        pose.pose.position.z = 9.0;
        pose.pose.orientation.w = 1.0;
        pose.covariance = rising(1.0);
    }
    imu: Imu() {
        header.stamp.sec = 3;
        header.frame_id = text("imu");
        orientation.w = 1.0;
        orientation_covariance = rising(10.0);
        angular_velocity.x = 0.5;
        angular_velocity_covariance = rising(20.0);
        linear_acceleration.z = 9.81;
        linear_acceleration_covariance = rising(30.0);
    }
    scan: LaserScan() {
        header.frame_id = text("laser");
        angle_min = -1.5;
        angle_max = 1.5;
        angle_increment = 0.01;
        time_increment = 0.001;
        scan_time = 0.1;
        range_min = 0.05;
        range_max = 30.0;
        ranges = (0..301).map(|at| at as f32 / 4.0).collect::<Vec<_>>();
        intensities = vec![f32::INFINITY, 0.0, -1.0];
    }
    joints: JointState() {
        header.stamp.nanosec = 17;
        name = vec![text("shoulder"), text(""), text("elbow_joint")];
        position = vec![0.1, 0.2, 0.3];
        velocity = vec![];
        effort = vec![5.5];
    }
    fix: NavSatFix() {
        header.frame_id = text("gps");
        status.status = -1;
        status.service = 5;
        latitude = 47.37;
        longitude = 8.54;
        altitude = -12.5;
        position_covariance = rising(2.0);
        position_covariance_type = 3;
    }
    camera: CameraInfo() {
        header.frame_id = text("camera");
        height = 480;
        width = 640;
        distortion_model = text("plumb_bob");
        d = vec![0.1, 0.2, 0.3, 0.4, 0.5];
        k = rising(1.0);
        r = rising(20.0);
        p = rising(30.0);
        binning_x = 2;
        binning_y = 3;
        roi.x_offset = 4;
        roi.y_offset = 5;
        roi.height = 6;
        roi.width = 7;
        roi.do_rectify = true;
    }
    cloud: PointCloud2(fields: 2) {
        header.frame_id = text("lidar");
        height = 1;
        width = 100;
        fields[0].name = text("x");
        fields[0].offset = 0;
        fields[0].datatype = 7;
        fields[0].count = 1;
        fields[1].name = text("intensity");
        fields[1].offset = 4;
        fields[1].datatype = 8;
        fields[1].count = 2;
        is_bigendian = false;
        point_step = 12;
        row_step = 1200;
        data = bytes((0..1200).map(|at| at as u8).collect());
        is_dense = true;
    }
    compressed: CompressedImage() {
        header.frame_id = text("camera");
        format = text("jpeg");
        data = bytes(vec![0xff, 0xd8, 0xff]);
    }
    image: Image() {
        header.stamp.sec = 5;
        header.frame_id = text("camera");
        height = 512;
        width = 1024;
        encoding = text("16UC1");
        is_bigendian = 0;
        step = 2048;
        data = bytes((0..1 << 20).map(|at: u32| (at >> 3) as u8 ^ at as u8).collect());
    }
    odometry: Odometry() {
        header.stamp.sec = 6;
        header.frame_id = text("odom");
        child_frame_id = text("base");
        pose.pose.position.x = 1.0;
        pose.pose.orientation.w = 0.5;
        pose.covariance = rising(3.0);
        twist.twist.linear.x = 2.0;
        twist.twist.angular.z = 0.125;
        twist.covariance = rising(40.0);
    }
    path: Path(poses: 3) {
        header.frame_id = text("map");
        poses[0].header.frame_id = text("a");
        poses[0].pose.position.x = 1.0;
        poses[1].header.frame_id = text("longer than the one before");
        poses[1].pose.position.y = 2.0;
        poses[2].header.stamp.sec = 8;
        poses[2].pose.orientation.w = 3.0;
    }
    grid: OccupancyGrid() {
        header.frame_id = text("map");
        info.map_load_time.sec = 9;
        info.resolution = 0.05;
        info.width = 20;
        info.height = 10;
        info.origin.position.x = -0.5;
        info.origin.orientation.w = 1.0;
        data = (0..200).map(|at| (at % 102) as i8 - 1).collect::<Vec<_>>();
    }
}
