//! The identity of an endpoint on the network.

use xxhash_rust::xxh3::xxh3_128;

/// Returns the gid of the endpoint with that token: 128 bits of XXH3 over the token's key, in
/// rmw_zenoh's form: the lower half first, each half little endian (`liveliness_utils.cpp`).
///
/// ```
/// let gid = sinew_zenoh::wire::gid::of("@ros2_lv/0/a/0/0/NN/%/%/talker");
/// assert_eq!(gid, sinew_zenoh::wire::gid::of("@ros2_lv/0/a/0/0/NN/%/%/talker"));
/// ```
pub fn of(token: &str) -> [u8; 16] {
    xxh3_128(token.as_bytes()).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_token_whose_gid_is_known() {
        let token = "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/\
                     RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,";
        let hex: String = of(token).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "ac170f31eadcd9ff0cd86d7a17907d1c");
    }
}
