//! Accepted definitions.

use super::{message, name};
use sinew_msg::definition::{Content, Definition, Literal, Section};

/// The types and names of the fields, as in a definition.
fn fields(section: &Section) -> Vec<String> {
    section.fields.iter().map(|field| format!("{} {}", field.field_type, field.name)).collect()
}

fn default(line: &str) -> Literal {
    message(line).fields[0].default.clone().unwrap()
}

fn constant(line: &str) -> Literal {
    message(line).constants[0].value.clone()
}

fn string(text: &str) -> Literal {
    Literal::String(text.to_owned())
}

fn integers<const N: usize>(values: [i128; N]) -> Literal {
    Literal::Sequence(values.map(Literal::Integer).to_vec())
}

#[test]
fn types() {
    let primitives = "bool byte char int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64";
    for element in
        primitives.split(' ').chain(["string", "wstring", "string<=1", "wstring<=4294967295", "a/B"])
    {
        for shape in ["", "[]", "[1]", "[4294967295]", "[<=7]"] {
            let line = format!("{element}{shape} x");
            assert_eq!(fields(&message(&line)), [line]);
        }
    }
}

#[test]
fn a_type_without_package_is_of_the_same_package() {
    let section = message("Other a\nstd_msgs/Header b");
    assert_eq!(fields(&section), ["test_msgs/Other a", "std_msgs/Header b"]);
}

#[test]
fn blanks_between_words_and_behind_the_last() {
    let section = message("int32  a\t 5 \t\nint32\tA=5\nint32 B = 6\t# six\nint32 C= 7");
    assert_eq!(section.fields[0].default, Some(Literal::Integer(5)));
    let constants: Vec<_> =
        section.constants.iter().map(|constant| (&*constant.name, &constant.value)).collect();
    assert_eq!(
        constants,
        [("A", &Literal::Integer(5)), ("B", &Literal::Integer(6)), ("C", &Literal::Integer(7))]
    );
}

#[test]
fn lines_end_as_any_editor_ends_them() {
    let unix = message("# first\nint32 a\n\nint32 b");
    for text in [
        "# first\r\nint32 a\r\n\r\nint32 b\r\n",
        "# first\rint32 a\r\rint32 b\r",
        "\u{feff}# first\nint32 a\n\nint32 b\n\n",
    ] {
        let section = message(text);
        assert_eq!(fields(&section), fields(&unix));
        assert_eq!(section.documentation, "first");
        assert_eq!(section.fields[1].place.line, 4);
    }
}

#[test]
fn numbers() {
    for (line, value) in [
        ("int8 X=-128", -128),
        ("int8 X=+127", 127),
        ("uint8 X=0xFf", 255),
        ("byte X=0b1_01", 5),
        ("char X=0o17", 15),
        ("int16 X=-0x8000", -32768),
        ("int32 X=2_147_483_647", 2_147_483_647),
        ("int32 X=007", 7),
        ("int64 X=-9223372036854775808", i64::MIN.into()),
        ("uint64 X=18446744073709551615", u64::MAX.into()),
    ] {
        assert_eq!(constant(line), Literal::Integer(value), "{line}");
    }
    for (line, value) in [
        ("float32 X=1", 1.0),
        ("float32 X=3.4028235e38", 3.402_823_5e38),
        ("float64 X=-.5", -0.5),
        ("float64 X=5.", 5.0),
        ("float64 X=1_0.5e-3", 0.0105),
        ("float64 X=1.7976931348623157e308", f64::MAX),
    ] {
        assert_eq!(constant(line), Literal::Float(value), "{line}");
    }
    for (text, value) in [("true", true), ("False", false), ("1", true), ("0", false), ("TRUE", true)] {
        assert_eq!(constant(&format!("bool X={text}")), Literal::Bool(value));
    }
}

#[test]
fn strings() {
    for (text, value) in [
        ("hello world", "hello world"),
        ("\"hello world \"", "hello world "),
        ("'hello'", "hello"),
        ("\"it's\"", "it's"),
        (r#""a \"b\" c""#, "a \"b\" c"),
        (r"'it\'s'", "it's"),
        (r#""\a\b\f\n\r\t\v\\""#, "\x07\x08\x0c\n\r\t\x0b\\"),
        (r#""\x41\u00e9\U0001d11e\0\101\7778""#, "Aé𝄞\0A\u{1ff}8"),
        (r#""\d+\.\_""#, r"\d+\.\_"),
        (r#""\\n""#, r"\n"),
        ("\"ハローワールド\"", "ハローワールド"),
        ("\"\"", ""),
        ("", ""),
        ("a=b", "a=b"),
    ] {
        assert_eq!(constant(&format!("string X={text}")), string(value), "{text}");
        assert_eq!(constant(&format!("wstring X = {text} ")), string(value), "{text}");
        if !text.is_empty() {
            assert_eq!(default(&format!("string x {text}")), string(value), "{text}");
        }
    }
    assert_eq!(default("string<=3 x \"ハロー\""), string("ハロー"));
}

#[test]
fn sequences() {
    assert_eq!(default("int32[3] x [1, -2,3]"), integers([1, -2, 3]));
    assert_eq!(default("uint8[] x []"), integers([]));
    assert_eq!(default("uint8[] x [ ]"), integers([]));
    assert_eq!(default("uint8[<=3] x [ 1 , 2 ] # two"), integers([1, 2]));
    assert_eq!(
        default("bool[] x [true, 0]"),
        Literal::Sequence(vec![Literal::Bool(true), Literal::Bool(false)])
    );
    let texts = |texts: &[&str]| Literal::Sequence(texts.iter().map(|text| string(text)).collect());
    assert_eq!(default(r#"string[] x ["a, b", 'c"d', e f ,"]"]"#), texts(&["a, b", "c\"d", "e f", "]"]));
    assert_eq!(default(r#"string[] x ["", "a\"b",]"#), texts(&["", "a\"b"]));
    assert_eq!(default(r#"wstring<=2[<=2] x ["ab", "ö"]"#), texts(&["ab", "ö"]));
}

#[test]
fn comments_become_documentation() {
    let text = "\
#  A message
#
#    with two lines

# Before a,
#   indented.
int32 a  # and behind
    # and after

int32 b ## twice


#
# of X

# and more

uint8 X=1
\t# after X
# of nothing";
    let section = message(text);
    assert_eq!(section.documentation, "A message\n\n  with two lines");
    assert_eq!(section.fields[0].documentation, "Before a,\n  indented.\nand behind\nand after");
    assert_eq!(section.fields[1].documentation, "twice");
    assert_eq!(section.constants[0].documentation, "of X\nand more\nafter X");
    assert_eq!(message("int32 a\n# of nothing").fields[0].documentation, "");
    assert_eq!(message("    # of nothing\nint32 a").fields[0].documentation, "");
    assert_eq!(message("# all there is").documentation, "all there is");
}

#[test]
fn sections() {
    let service =
        Definition::parse(&name("a/srv/B"), "B.srv", "# in\nint32 a\n---\n# out\nint32 a\n").unwrap();
    let Content::Service { request, response } = service.content else { panic!("a service") };
    assert_eq!((&*request.documentation, &*response.documentation), ("in", "out"));
    assert_eq!(response.fields[0].place.to_string(), "B.srv:5:1");

    let action = Definition::parse(&name("a/action/B"), "B.action", "---\nint8 a\n--- \n").unwrap();
    let Content::Action { goal, result, feedback } = action.content else { panic!("an action") };
    assert_eq!([goal, result, feedback].map(|section| section.fields.len()), [0, 1, 0]);
}

#[test]
fn optional_fields() {
    let section = message("@optional int32 a\n@optional\n\n# of b\nint32 b\nint32 c");
    let optional: Vec<_> = section.fields.iter().map(|field| field.optional).collect();
    assert_eq!(optional, [true, true, false]);
    assert_eq!(section.fields[0].place.column, 11);
}
