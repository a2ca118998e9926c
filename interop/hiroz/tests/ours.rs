//! Sinew's types, and values of them.

mod types {
    pub(crate) use sinew_interfaces::geometry_msgs::msg::*;
    pub(crate) use sinew_interfaces::nav_msgs::msg::*;
    pub(crate) use sinew_interfaces::sensor_msgs::msg::*;
    pub(crate) use sinew_interfaces::std_msgs::msg::String as Text;
    pub(crate) use sinew_interfaces::std_msgs::msg::{
        Bool, Char, ColorRGBA, Empty, Float64MultiArray, UInt8MultiArray,
    };

    pub(crate) fn bytes(bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
}

#[path = "values.rs"]
pub(crate) mod values;

pub(crate) use types::*;
