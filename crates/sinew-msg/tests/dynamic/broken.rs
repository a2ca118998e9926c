//! Invalid messages: the place and problem, in the words of the errors.

use crate::{message_type, of_yaml};
use sinew_msg::dynamic::{DynamicMessage, MessageType, Value};
use std::sync::Arc;

fn error(message_type: &Arc<MessageType>, encoded: &[u8]) -> String {
    DynamicMessage::decode(message_type, encoded).unwrap_err().to_string()
}

#[test]
fn errors_name_the_path() {
    let nested = message_type(&[("A", "B[2] b"), ("B", "C[] c"), ("C", "string<=3 name\nbool[] bits")]);
    let message = of_yaml(&nested, "b: [{}, {c: [{}, {name: abc, bits: [true, true]}]}]");
    let encoded = message.encode();
    assert_eq!(
        error(&nested, &encoded[..encoded.len() - 1]),
        "`b[1].c[1].bits` of test_msgs/msg/A claims 2 elements, but the message has room for 1 at most"
    );
    let mut wrong = encoded.clone();
    *wrong.last_mut().unwrap() = 2;
    let last = encoded.len() - 1;
    assert_eq!(
        error(&nested, &wrong),
        format!(
            "`b[1].c[1].bits` of test_msgs/msg/A at byte {last} is not valid: a bool is 0 or 1; are these the bytes of another type?"
        )
    );
    assert_eq!(
        error(&nested, &[]),
        "`(header)` of test_msgs/msg/A needs bytes up to 4, but the message ends at byte 0"
    );
    assert_eq!(
        error(&nested, &[0, 1, 0, 0, 0]),
        "`b[0].c` of test_msgs/msg/A needs bytes up to 8, but the message ends at byte 5"
    );
    assert!(error(&nested, &[0, 7, 0, 0]).contains("representation 0x0007"));
}

#[test]
fn strings_and_bounds() {
    let texts = message_type(&[("A", "string a")]);
    assert!(error(&texts, &[0, 1, 0, 0, 1, 0, 0, 0, b'a']).contains("a string ends with a NUL"));
    let wide = message_type(&[("A", "wstring a")]);
    assert!(
        error(&wide, &[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0])
            .contains("`a` of test_msgs/msg/A at byte 8 is not valid: a unit")
    );
    let bounded = message_type(&[("A", "uint8[<=2] a")]);
    assert_eq!(
        error(&bounded, &[0, 1, 0, 0, 3, 0, 0, 0, 1, 2, 3]),
        "`a` of test_msgs/msg/A has 3 elements, where 2 are allowed"
    );
}

#[test]
fn lengths_that_lie_are_not_believed() {
    for text in ["uint8[] a", "float64[] a", "string[] a", "B[] a", "string a", "wstring a", "wstring[] a"] {
        let message_type = message_type(&[("A", text), ("B", "")]);
        let text = error(&message_type, &[0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0]);
        assert!(text.contains("claims 4294967295 elements"), "{text}");
    }
    let arrays = message_type(&[("A", "uint8[100000000] a")]);
    assert!(error(&arrays, &[0, 1, 0, 0, 1]).contains("needs bytes up to 100000004"));
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let texts = message_type(&[("A", "string a\nwstring b")]);
    let encoded = [0, 1, 0, 0, 4, 0, 0, 0, b'a', 0xff, b'\'', 0, 1, 0, 0, 0, 0x34, 0xd8, 0, 0];
    let message = DynamicMessage::decode(&texts, &encoded).unwrap();
    let values: Vec<&Value> = message.fields().map(|(_, value)| value).collect();
    assert_eq!(values, [&Value::String(b"a\xff'".to_vec()), &Value::WString(vec![0xd834])]);
    assert_eq!(message.encode(), encoded);
    assert_eq!(message.to_yaml(&Default::default()), "a: a\\xff'\nb: \\ud834\n");
    assert_eq!(message.to_json(), r#"{"a":"a\\xff'","b":"\\ud834"}"#);
}

#[test]
fn both_byte_orders_are_read() {
    let all =
        message_type(&[("A", "bool a\nint16 b\nuint32[] c\nfloat64 d\nwstring e\nstring f\nint8[2] g")]);
    let header = [0, 0, 0, 0];
    let numbers = [1, 0, 0xff, 0xfe, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0];
    let texts = [0, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 2, b'b', 0, 0xff, 5];
    let encoded = [&header[..], &numbers, &texts].concat();
    let message = DynamicMessage::decode(&all, &encoded).unwrap();
    assert_eq!(message.to_json(), r#"{"a":true,"b":-2,"c":[1,256],"d":1.5,"e":"a","f":"b","g":[-1,5]}"#);
    let little = message.encode();
    assert_eq!(little[..4], [0, 1, 0, 0]);
    assert_eq!(DynamicMessage::decode(&all, &little).unwrap(), message);
}
