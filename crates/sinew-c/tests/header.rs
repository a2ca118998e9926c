//! The header is what the sources say.

use sinew::error::ErrorCode;
use std::fmt::Write;
use std::path::Path;

/// `SINEW_ERROR_SHUTDOWN` of `Shutdown`.
fn c_name(name: &str) -> String {
    let mut c_name = "SINEW_ERROR".to_owned();
    for letter in name.chars() {
        if letter.is_uppercase() {
            c_name.push('_');
        }
        c_name.push(letter.to_ascii_uppercase());
    }
    c_name
}

fn statuses() -> String {
    let mut text = "/** Success, and the reasons of failures: the values of `sinew_status`. */\nenum {\n    SINEW_OK = 0,\n".to_owned();
    for code in ErrorCode::ALL {
        writeln!(text, "    /** {} */\n    {} = {},", code.meaning(), c_name(code.name()), code.number())
            .expect("a text");
    }
    text + "};\n"
}

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("the configuration");
    let builder =
        cbindgen::Builder::new().with_config(config).with_after_include(format!("\n{}", statuses()));
    // What C must compile itself: functions with any number of arguments.
    let trailer = concat!(include_str!("../src/log_macros.h"), "\n#endif  /* SINEW_H */");
    let builder = builder.with_src(root.join("src/lib.rs")).with_trailer(trailer);
    let mut header = Vec::new();
    builder.generate().expect("a header").write(&mut header);
    // Links are of Rust's documentation.
    let header = String::from_utf8(header).expect("a text").replace("[`", "`").replace("`]", "`");
    let path = root.join("include/sinew/sinew.h");
    if std::env::var_os("SINEW_UPDATE").is_some() {
        std::fs::write(&path, &header).expect("it can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == header,
        "{} differs from the sources: SINEW_UPDATE=1 cargo test -p sinew-c --test header",
        path.display()
    );
}
