//! Memory use of decoding: proportional to the length of the message, whatever lengths it claims.

use crate::counting::allocations;
use crate::message_type;
use sinew_msg::dynamic::DynamicMessage;

#[test]
fn a_length_that_lies_costs_no_memory() {
    const LENGTH: usize = 4096;
    let types = [
        "uint8[] a",
        "float64[] a",
        "string[] a",
        "wstring a",
        "string a",
        "Empty[] a",
        "Pair[] a",
        "uint8[100000000] a",
        "Empty[1000000] a",
    ];
    for text in types {
        let message_type =
            message_type(&[("A", text), ("Empty", ""), ("Pair", "Empty[<=9] one\nstring two")]);
        for claimed in [u32::MAX, 1 << 30, 4000, 900, 100] {
            let mut encoded = vec![0; LENGTH];
            encoded[1] = 1;
            encoded[4..8].copy_from_slice(&claimed.to_le_bytes());
            let (_, _, largest) = allocations(|| DynamicMessage::decode(&message_type, &encoded));
            // A value of one byte takes 32 in memory, and a growing vector has up to twice that
            // capacity.
            assert!(largest <= 64 * LENGTH, "{text}, {claimed}: {largest} bytes");
        }
    }
}
