//! hiroz's types, and values of them.

mod types {
    pub(crate) use hiroz_msgs::geometry_msgs::*;
    pub(crate) use hiroz_msgs::nav_msgs::*;
    pub(crate) use hiroz_msgs::sensor_msgs::*;
    pub(crate) use hiroz_msgs::std_msgs::String as Text;
    pub(crate) use hiroz_msgs::std_msgs::{Bool, Char, ColorRGBA, Empty, Float64MultiArray, UInt8MultiArray};

    pub(crate) fn bytes(bytes: Vec<u8>) -> hiroz::ZBuf {
        bytes.into()
    }
}

#[path = "values.rs"]
pub(crate) mod values;

pub(crate) use types::*;
