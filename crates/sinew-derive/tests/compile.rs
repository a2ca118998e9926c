//! Structs that the derive refuses, with the text of the error.

#[test]
fn what_can_not_be_a_message() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
