//! Programs that the compiler refuses, with the text of the error.

#[test]
fn what_is_refused() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/messages/*.rs");
    cases.compile_fail("tests/ui/parameters/*.rs");
    cases.compile_fail("tests/ui/programs/*.rs");
}
