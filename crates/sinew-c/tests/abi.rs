//! What compiled programs rely on is what `abi.txt` lists: functions, layouts, numbers. A change of
//! the list is a change of the ABI: `SINEW_UPDATE=1 cargo test -p sinew-c --test abi` writes it anew.
#![cfg(target_pointer_width = "64")]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use support::{cc, checked, library, root, skipped};

/// The header's declarations without comments, each in one line.
fn declarations() -> Vec<String> {
    let header = std::fs::read_to_string(root().join("include/sinew/sinew.h")).expect("the header");
    let mut text = String::new();
    for (place, part) in header.split("/*").enumerate() {
        text += if place == 0 { part } else { part.split_once("*/").expect("the comment ends").1 };
    }
    let text = text.replace("\\\n", " "); // macros of several lines
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let (mut all, mut begun, mut depth) = (Vec::new(), String::new(), 0_usize);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let value = line.strip_prefix("#define SINEW_").and_then(|constant| constant.split(' ').nth(1));
        if value.is_some_and(|value| value.starts_with(|c: char| c == '-' || c.is_ascii_digit())) {
            all.push(line.to_owned());
        }
        if line.starts_with('#') || line.contains("extern \"C\"") || depth == 0 && line.trim() == "}" {
            continue;
        }
        depth = depth + line.matches('{').count() - line.matches('}').count();
        begun += line.trim();
        begun.push(' ');
        if depth == 0 && begun.contains("static inline ") && line.trim_end().ends_with('}') {
            begun.clear(); // a part of the programs
        } else if depth == 0 && line.trim_end().ends_with(';') {
            all.push(std::mem::take(&mut begun).trim().to_owned());
        }
    }
    assert_eq!(begun, "", "a declaration without an end");
    all
}

/// The name that a field or function declares: before its array or parameters.
fn declared(declaration: &str) -> &str {
    let declaration = match declaration.split_once("(*") {
        Some((_, pointer)) => pointer,
        None => declaration,
    };
    let end = declaration.find(['(', ')', '[', ';']).unwrap_or(declaration.len());
    let name = declaration[..end].trim_end();
    name.rsplit([' ', '*']).next().unwrap_or(name)
}

/// Functions with their declarations, and a program that prints the layouts and numbers.
fn functions_and_program() -> (Vec<(String, String)>, String) {
    let mut functions = Vec::new();
    let mut body = String::new();
    for declaration in declarations() {
        if let Some(constant) = declaration.strip_prefix("#define ") {
            let name = constant.split(' ').next().expect("a name");
            writeln!(body, "    printf(\"constant {name} = %lld\\n\", (long long)({name}));")
                .expect("a text");
        } else if let Some(rest) = declaration.strip_prefix("enum ") {
            for constant in
                rest.trim_matches(['{', '}', ';', ' ']).split(',').filter(|c| !c.trim().is_empty())
            {
                let name = constant.split('=').next().expect("a name").trim();
                writeln!(body, "    printf(\"constant {name} = %lld\\n\", (long long)({name}));")
                    .expect("a text");
            }
        } else if let Some(fields) =
            declaration.strip_prefix("typedef struct ").filter(|rest| rest.contains('{'))
        {
            let (name, fields) = fields.split_once('{').expect("it has fields");
            let (name, fields) = (name.trim(), fields.rsplit_once('}').expect("it ends").0);
            writeln!(body, "    printf(\"struct {name}: %zu bytes\\n\", sizeof(struct {name}));")
                .expect("a text");
            for field in fields.split(';').map(str::trim).filter(|field| !field.is_empty()) {
                let field_name = declared(field);
                writeln!(
                    body,
                    "    printf(\"    %zu + %zu: {field}\\n\", offsetof(struct {name}, {field_name}), sizeof(((struct {name} *)0)->{field_name}));"
                )
                .expect("a text");
            }
        } else if let Some(typedef) = declaration.strip_prefix("typedef ") {
            if !typedef.starts_with("struct ") {
                writeln!(body, "    printf(\"type {}\\n\");", typedef.trim_end_matches(';')).expect("a text");
            }
        } else {
            functions.push((declared(&declaration).to_owned(), declaration));
        }
    }
    let program = format!(
        "#include <sinew/sinew.h>\n#include <stdio.h>\nint main(void)\n{{\n{body}    return 0;\n}}\n"
    );
    (functions, program)
}

/// What the shared library exports.
fn exported() -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=posix"]).arg(library().join("libsinew_c.so"));
    let output = nm.output().expect("nm runs");
    checked("nm", &output);
    let text = String::from_utf8(output.stdout).expect("a text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn printed(program: &str) -> String {
    let place = tempfile::tempdir().expect("a directory");
    let (source, binary) = (place.path().join("layouts.c"), place.path().join("layouts"));
    std::fs::write(&source, program).expect("a file");
    let mut compile = Command::new(cc());
    compile.arg("-std=c11").arg("-I").arg(root().join("include")).arg("-o").arg(&binary).arg(&source);
    checked("the layouts are compiled", &compile.output().expect("cc runs"));
    let output = Command::new(&binary).output().expect("it starts");
    checked("the layouts are printed", &output);
    String::from_utf8(output.stdout).expect("a text")
}

#[test]
fn programs_that_were_compiled_keep_working() {
    if skipped(&cc()) || skipped("nm") {
        return;
    }
    let (functions, program) = functions_and_program();
    let names: BTreeSet<String> = functions.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(exported(), names, "the library exports what the header declares");

    let mut found = printed(&program);
    assert!(found.contains("struct sinew_context_options: "), "{found}");
    for (_, declaration) in functions {
        writeln!(found, "{declaration}").expect("a text");
    }
    let path: &Path = &root().join("abi.txt");
    if std::env::var_os("SINEW_UPDATE").is_some() {
        std::fs::write(path, &found).expect("it can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let [found, committed]: [BTreeSet<&str>; 2] = [&found, &committed].map(|text| text.lines().collect());
    let gone: Vec<_> = committed.difference(&found).collect();
    let new: Vec<_> = found.difference(&committed).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the ABI differs from {}. Gone: {gone:#?}. New: {new:#?}. If it is meant: SINEW_UPDATE=1 cargo test -p sinew-c --test abi",
        path.display()
    );
}
