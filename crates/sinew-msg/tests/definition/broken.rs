//! Refused definitions: each error gives the place, the text found and the text expected.

use super::{error, message};
use sinew_msg::definition::Definition;

/// Lines of a message, each with its error after the file and the line.
fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        let error = error("msg", format!("int32 before\n{line}\nint32 after"));
        let said = error.strip_prefix("Test.msg:2:").unwrap_or(&error);
        assert!(said.starts_with(expected), "`{line}`\n     is: {said}\nexpected: {expected}");
    }
}

#[test]
fn types() {
    check(&[
        ("float x", "1: found `float`, expected a type: perhaps `float32`"),
        ("time x", "1: found `time`, expected a type: perhaps `builtin_interfaces/Time`"),
        (
            "std_msgs/msg/Header x",
            "1: found `std_msgs/msg/Header`, expected a type: `std_msgs/Header`, without `msg`",
        ),
        ("thing x", "1: found `thing`, expected a type: `bool`, `byte`, `char`"),
        ("Std_msgs/Header x", "1: found `Std_msgs/Header`, expected a type"),
        ("std__msgs/Header x", "1: found `std__msgs/Header`, expected a type"),
        ("a/b/C x", "1: found `a/b/C`, expected a type"),
        ("Größe x", "1: found `Größe`, expected a type"),
        ("Goal_Request x", "1: found `Goal_Request`, expected a type"),
        ("int32[2][3] x", "1: found `int32[2][3]`, expected a type: an array has one size"),
        ("int32] x", "1: found `int32]`, expected a type: `]` ends"),
        ("int32[ x", "1: found `int32[`, expected a type"),
        ("[] x", "1: found nothing, expected a type"),
    ]);
}

#[test]
fn bounds() {
    check(&[
        ("int32[0] x", "7: found `0`, expected nothing, or the size of the array"),
        ("int32[-1] x", "7: found `-1`"),
        ("int32[+1] x", "7: found `+1`"),
        (
            "int32[4294967296] x",
            "7: found `4294967296`, expected nothing, or the size of the array (`<=` and the largest of a \
                                 sequence) as a number from 1 to 4294967295",
        ),
        ("int32[n] x", "7: found `n`"),
        ("int32[<=] x", "9: found nothing, expected the largest size of the sequence as a number from 1"),
        ("int32[<=0] x", "9: found `0`"),
        ("int32[<3] x", "7: found `<3`"),
        ("string<=0 x", "9: found `0`, expected the largest length of the string"),
        ("string<= x", "9: found nothing, expected the largest length of the string"),
        ("wstring<=99999999999999999999[] x", "10: found `99999999999999999999`"),
    ]);
}

#[test]
fn names() {
    check(&[
        (
            "int32",
            "1: found `int32` and nothing after it, expected a type and the name of a field or constant",
        ),
        ("hello", "1: found `hello` and nothing after it"),
        ("int32 X", "7: found `X`, expected the name of a field"),
        ("int32 x__y", "7: found `x__y`, expected the name of a field"),
        ("int32 x_", "7: found `x_`"),
        ("int32 1x", "7: found `1x`"),
        ("int32  ä", "8: found `ä`"),
        ("int32 x=5", "7: found `x`, expected the name of a constant"),
        ("int32 =5", "7: found nothing, expected the name of a constant"),
        ("int32 X__Y=5", "7: found `X__Y`, expected the name of a constant"),
        (
            "int32 before",
            "7: found another `before`, expected each name once: the first is in line 1; rename one",
        ),
        (" int32 x", "1: found whitespace"),
        ("\tint32 x", "1: found whitespace"),
    ]);
    assert_eq!(
        error("msg", "int8 A=1\nint8 A=1"),
        "Test.msg:2:6: found another `A`, expected each name once: the first is in line 1; rename one"
    );
}

#[test]
fn numbers() {
    check(&[
        ("int8 X=128", "8: found `128`, expected an integer from -128 to 127 for `int8`"),
        ("byte X=-1", "8: found `-1`, expected an integer from 0 to 255 for `byte`"),
        ("char X=a", "8: found `a`, expected an integer from 0 to 255 for `char`"),
        ("uint64 X=18446744073709551616", "10: found `18446744073709551616`"),
        ("int64 X=-9223372036854775809", "9: found `-9223372036854775809`"),
        ("int32 X=", "9: found nothing, expected an integer"),
        ("int32 X=1.0", "9: found `1.0`"),
        ("int32 X=--1", "9: found `--1`"),
        ("int32 X=-+1", "9: found `-+1`"),
        ("int32 X=0x", "9: found `0x`"),
        ("int32 X=0x-1", "9: found `0x-1`"),
        ("int32 X=1__0", "9: found `1__0`"),
        ("int32 X=_1", "9: found `_1`"),
        ("int32 X=1_", "9: found `1_`"),
        ("int32 X=1 2", "9: found `1 2`"),
        ("int32 X=0b12", "9: found `0b12`"),
        ("float32 X=1e39", "11: found `1e39`, expected a number from -3.4028234663852886e38 to 3.4"),
        ("float64 X=1e309", "11: found `1e309`"),
        ("float64 X=nan", "11: found `nan`"),
        ("float64 X=-inf", "11: found `-inf`"),
        ("float64 X=1,5", "11: found `1,5`"),
        ("bool X=yes", "8: found `yes`, expected `true`, `1`, `false` or `0` for `bool`"),
        ("bool X=2", "8: found `2`"),
        ("int32 x 99999999999", "9: found `99999999999`, expected an integer from -2147483648"),
    ]);
    let long = format!("9: found `{}..`, expected an integer", "9".repeat(48));
    check(&[(&format!("int32 X={}", "9".repeat(10_000)), &long)]);
}

#[test]
fn strings() {
    check(&[
        ("string X=\"a", "10: found `\"a`, expected a closing \""),
        ("string X=\"", "10: found `\"`, expected a closing \""),
        ("string X='a\"", "10: found `'a\"`, expected a closing '"),
        (
            "string X=\"#fff\"",
            "10: found `\"`, expected a closing \"; write \\\" for one inside the string, and \\x23 for `#`",
        ),
        ("string X=\"a\\\"", "10: found `\"a\\\"`, expected a closing \""),
        ("string X=\"a\" b", "13: found ` b`, expected nothing after the closing quote"),
        ("string X=\\", "10: found the escape `\\`, expected a character after the backslash"),
        ("string X=\"ä\\x4\"", "12: found the escape `\\x4`, expected 2 hexadecimal digits after `\\x`"),
        (
            "string X=\"\\u+123\"",
            "11: found the escape `\\u+123`, expected 4 hexadecimal digits of a character",
        ),
        ("string X=\"\\ud800\"", "11: found the escape `\\ud800`"),
        (
            "string X=\"\\U00110000\"",
            "11: found the escape `\\U00110000`, expected 8 hexadecimal digits of a character",
        ),
        ("string X=\"\\N{DIGIT ONE}\"", "11: found the escape `\\N{`, expected the character itself"),
        (
            "string<=3 x \"four\"",
            "13: found `\"four\"`, expected 3 characters at most for `string<=3`, not 4",
        ),
        ("wstring<=1[] x [a, bc]", "20: found `bc`, expected 1 characters at most"),
    ]);
}

#[test]
fn sequences() {
    check(&[
        ("int32[3] x [1, 2]", "12: found 2 values, expected 3 for `int32[3]`"),
        ("int32[<=1] x [1, 2]", "14: found 2 values, expected 1 at most for `int32[<=1]`"),
        ("int32[] x 1", "11: found `1`, expected values in brackets"),
        ("int32[] x [1", "11: found `[1`, expected values in brackets"),
        ("int32[] x [", "11: found `[`, expected values in brackets"),
        ("int32[] x [1,]", "14: found nothing, expected a value after the comma"),
        ("int32[] x [,]", "12: found nothing, expected an integer"),
        ("int32[] x [1 2]", "12: found `1 2`"),
        ("uint8[] x [1, 256]", "15: found `256`, expected an integer from 0 to 255"),
        ("string[] x ['a]", "13: found `'a`, expected a closing '"),
        ("string[] x ['a' 'b']", "16: found ` 'b'`, expected nothing after the closing quote"),
        ("int32[] x [[1]]", "12: found `[1]`, expected an integer"),
    ]);
}

#[test]
fn values_of_types_without() {
    check(&[
        ("Other x 5", "9: found `5`, expected the end of the line"),
        ("Other[] x []", "11: found `[]`, expected the end of the line"),
        (
            "Other X=5",
            "1: found a constant of type `Other`, expected a `bool`, a number, `string` or `wstring`",
        ),
        ("int32[2] X=[1, 2]", "1: found a constant of type `int32[2]`"),
        ("string<=3 X=abc", "1: found a constant of type `string<=3`"),
    ]);
}

#[test]
fn annotations() {
    check(&[
        ("@key int32 x", "1: found `@key`, expected `@optional` at most, once and before a field"),
        ("@optional @optional int32 x", "11: found `@optional`, expected a type"),
        ("@optional int32 X=5", "11: found `@optional int32`"),
        ("@optionally int32 x", "1: found `@optionally`"),
    ]);
    let expected = "Test.msg:2:1: found `@optional`, expected `@optional` at most, once and before a field";
    assert_eq!(error("msg", "int32 x\n@optional\n# end"), expected);
    assert_eq!(error("msg", "@optional\n@optional int32 x"), expected);
}

#[test]
fn separators() {
    check(&[
        ("---- ", "1: found `----`, expected `---` alone on its line"),
        ("--- # result", "1: found `---`, expected `---` alone on its line"),
    ]);
    for (kind, text, expected) in [
        (
            "msg",
            "int32 x\n---\nint32 y",
            "Test.msg:2:1: found one line `---`, expected no line `---`: a message has one section",
        ),
        (
            "srv",
            "int32 x\nint32 y\n",
            "Test.srv:2:1: found no line `---`, expected one line `---`: a service has a request and a response",
        ),
        ("srv", "---\n---\n", "Test.srv:2:1: found 2 lines `---`, expected one line `---`: a service"),
        ("srv", "", "Test.srv:1:1: found no line `---`"),
        (
            "action",
            "---\n",
            "Test.action:1:1: found one line `---`, expected 2 lines `---`: an action has a goal, a result and feedback",
        ),
        ("action", "---\n---\n---\n---", "Test.action:3:1: found 4 lines"),
    ] {
        let error = error(kind, text);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn files() {
    for (text, place) in [(&b"\x80"[..], "1:1"), (b"int8 a\r\r\nint8 \xff", "3:6"), (b"#\n\xc3", "2:1")] {
        let error = error("msg", text);
        assert!(error.starts_with(&format!("Test.msg:{place}: found byte 0x")), "{error}");
    }
    assert!(
        error("msg", b"int32 x\n# \xc3\xa4\xff")
            .starts_with("Test.msg:2:4: found byte 0xff, expected a text in UTF-8")
    );
    let name = "test_msgs/msg/Two_Words".parse().unwrap();
    let error = Definition::parse(&name, "msg/Two_Words.msg", "").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "msg/Two_Words.msg:1:1: found a definition of `Two_Words`, expected the name of a type"
        ),
        "{error}"
    );
}

#[test]
fn the_same_name_in_another_section_is_another_field() {
    assert_eq!(message("int32 x").fields.len(), 1);
    let name = "test_msgs/srv/Test".parse().unwrap();
    assert!(Definition::parse(&name, "Test.srv", "int32 x\nint32 A=1\n---\nint32 x\nint32 A=1").is_ok());
}
