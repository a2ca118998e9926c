//! Untrusted bytes: an error or a value, and memory use limited by the length of the message.

use super::counting::allocations;
use super::decode;
use super::definitions::interfaces;
use super::every::every_type;
use super::random::random_bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use sinew_interfaces::{diagnostic_msgs, sensor_msgs, test_msgs, visualization_msgs};
use sinew_msg::Message;
use std::sync::OnceLock;

/// Valid messages of every type.
fn encoded() -> &'static [Vec<u8>] {
    static ENCODED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ENCODED.get_or_init(|| {
        let interfaces = interfaces();
        let encoded = |name: &str| {
            let description = interfaces.description(&name.parse().unwrap()).unwrap();
            let [little, _] = random_bytes(&description, 1);
            little
        };
        every_type().iter().map(|checks| encoded(checks.name)).collect()
    })
}

/// Checks the largest allocation of decoding: the length of the message, or the minimum that a
/// vector reserves. An element may be larger in memory than encoded.
fn bounded<T: Message>(encoded: &[u8]) {
    let (_, _, largest) = allocations(|| decode::<T>(encoded));
    let most = (2 * encoded.len()).max(4 * size_of::<T>()).max(4096);
    assert!(largest <= most, "{largest} bytes for a message of {}", encoded.len());
}

proptest! {
    #[test]
    fn changed_encoded_messages_are_an_error_or_a_value(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), at: prop::sample::Index,
    ) {
        let types = every_type();
        let at = at.index(types.len());
        let mut encoded = encoded()[at].clone();
        for (place, byte) in changes {
            let place = place.index(encoded.len());
            encoded[place] = byte;
        }
        let _ = (types[at].any)(&encoded);
    }

    /// The view of a value equals the view of its encoding; this runs one check of a random type.
    #[test]
    fn any_value_is_seen_as_its_encoded_form_is(seed: u64, at: prop::sample::Index) {
        let types = every_type();
        let checks = &types[at.index(types.len())];
        let [little, big] = random_bytes(&(checks.description)(), seed);
        (checks.encoded)(&little, &big);
    }

    #[test]
    fn any_bytes_are_an_error_or_a_value(bytes in vec(any::<u8>(), 0..200), at: prop::sample::Index, big: bool) {
        let types = every_type();
        let mut encoded = vec![0, u8::from(!big), 0, 0];
        encoded.extend(bytes);
        let _ = (types[at.index(types.len())].any)(&encoded);
    }

    #[test]
    fn lengths_that_lie_allocate_no_more_than_the_encoded_form(
        numbers in vec(prop_oneof![Just(0u32), 1u32..40, any::<u32>()], 2..300),
    ) {
        let mut encoded = vec![0, 1, 0, 0];
        encoded.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bounded::<sensor_msgs::msg::PointCloud2>(&encoded);
        bounded::<diagnostic_msgs::msg::DiagnosticArray>(&encoded);
        bounded::<visualization_msgs::msg::MarkerArray>(&encoded);
        bounded::<test_msgs::msg::UnboundedSequences>(&encoded);
        bounded::<test_msgs::msg::WStrings>(&encoded);
        bounded::<test_msgs::msg::BoundedSequences>(&encoded);
        bounded::<test_msgs::msg::MultiNested>(&encoded);
    }
}
