//! C++ decodes and encodes the same messages as Rust, and refuses the same bytes.

use super::compiler::{Folder, compile, generate, packages};
use super::random::random_bytes;
use sinew_msg::definition::{Definitions, Interfaces, Role, TypeName};
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use std::env;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

/// Folders with every kind of field.
const EVERY_KIND: [&str; 3] = ["arm_msgs/msg/", "test_msgs/msg/", "text_msgs/msg/"];

/// Number of random messages of a type.
const MESSAGES: u64 = 4;
/// Number of changed copies of each message.
const CHANGED: u64 = 12;

/// A type, the message to decode, and the outcome of Rust: the encoded value, if it is one.
struct Case {
    message_type: Arc<MessageType>,
    encoded: Vec<u8>,
    expected: Option<Vec<u8>>,
}

fn interfaces(folder: &Folder) -> Interfaces {
    let mut definitions = Definitions::new();
    for package in packages(folder) {
        let name = package.file_name().unwrap().to_str().unwrap().to_owned();
        definitions.read_package(&name, &package).unwrap();
    }
    definitions.resolve().unwrap()
}

/// `name` is that of a type, or the path of a header.
fn has_every_kind(name: &str) -> bool {
    EVERY_KIND.iter().any(|folder| name.starts_with(folder))
}

/// With sanitizers if `SINEW_SANITIZE` is set, as in `.ci/deep`: they take six times as long to
/// compile.
#[test]
fn messages_with_every_kind_of_field() {
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let flags = if env::var_os("SINEW_SANITIZE").is_some() { &sanitizers[..] } else { &[] };
    exchange("every_kind", flags, has_every_kind);
}

/// Requests and responses are messages like others, so those of one package suffice.
#[test]
fn messages_of_the_other_packages() {
    let is_included =
        |name: &str| !has_every_kind(name) && (name.contains("/msg/") || name.starts_with("test_msgs/"));
    exchange("others", &["-fno-exceptions", "-fno-rtti"], is_included);
}

fn exchange(test: &str, flags: &[&str], is_included: impl Fn(&str) -> bool) {
    let folder = Folder::new(test);
    let _ = folder.write("all.hpp", &generate(&folder, &is_included));
    let interfaces = interfaces(&folder);
    let messages = interfaces.iter().filter(|interface| interface.role == Role::Message);
    let names = messages.map(|interface| &interface.name).filter(|name| is_included(name.as_str()));
    let names: Vec<&TypeName> = names.collect();
    let types = names.iter().map(|name| format!("TYPE(::{})\n", name.as_str().replace('/', "::")));
    let _ = folder.write("types.inc", &types.collect::<String>());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/exchange.cpp");
    let Some(program) = compile(&folder, &source, test, flags) else { return };
    let mut cases = Vec::new();
    for name in &names {
        let message_type = Arc::new(MessageType::of(&interfaces, name).unwrap());
        cases.extend(cases_of(&interfaces, name, &message_type));
    }
    let mut requests: Vec<u8> = names.iter().flat_map(|name| request(b't', name.as_str(), &[])).collect();
    requests.extend(cases.iter().flat_map(|case| request(b'd', case.message_type.name(), &case.encoded)));
    let mut answers = run(&program, requests).into_iter();
    for name in &names {
        let (_, properties) = answers.next().unwrap();
        check_properties(&interfaces, name, &String::from_utf8(properties).unwrap());
    }
    for case in cases {
        check(&case, answers.next().unwrap());
    }
}

/// Returns messages of a type that are right, cut or changed.
fn cases_of(interfaces: &Interfaces, name: &TypeName, message_type: &Arc<MessageType>) -> Vec<Case> {
    let description = interfaces.description(name).unwrap();
    let mut valid = vectors(name);
    (0..MESSAGES).for_each(|seed| valid.extend(random_bytes(&description, seed)));
    let mut all = Vec::new();
    let mut seed = 0;
    for encoded in valid {
        let step = (encoded.len() / 16).max(1); // only some cuts of long messages
        all.extend((0..encoded.len()).step_by(step).map(|length| encoded[..length].to_vec()));
        for _ in 0..CHANGED {
            let mut changed = encoded.clone();
            for _ in 0..=random(&mut seed) % 3 {
                let at = usize::try_from(random(&mut seed) % changed.len() as u64).unwrap();
                // Small numbers are lengths, which reach the code behind them.
                let [byte, small, ..] = random(&mut seed).to_le_bytes();
                changed[at] = if small < 128 { small % 8 } else { byte };
            }
            all.push(changed);
        }
        all.push([&encoded[..], &[0xaa; 3]].concat());
        all.push(encoded);
    }
    let case = |encoded: Vec<u8>| {
        let decoded = DynamicMessage::decode(message_type, &encoded);
        let expected = decoded.ok().map(|message| message.encode());
        Case { message_type: message_type.clone(), encoded, expected }
    };
    all.into_iter().map(case).collect()
}

/// Returns messages that were encoded by ROS 2 itself.
fn vectors(name: &TypeName) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/tests/cdr");
    let file = folder.join(format!("{}.json", name.as_str().replace('/', ".")));
    let text = fs::read_to_string(file).unwrap_or_default();
    let digits = text.split("\"cdr_hex\":\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    digits.map(bytes).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn there_are_vectors_of_ros_2() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/tests/cdr");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names = files.map(|file| file.file_stem().unwrap().to_str().unwrap().replace('.', "/"));
    let vectors: Vec<Vec<u8>> = names.flat_map(|name| vectors(&name.parse().unwrap())).collect();
    assert_eq!(vectors.len(), 51);
}

/// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014)
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn check_properties(interfaces: &Interfaces, name: &TypeName, properties: &str) {
    let lines: Vec<&str> = properties.lines().collect();
    let description = interfaces.description(name).unwrap();
    let message_type = Arc::new(MessageType::of(interfaces, name).unwrap());
    assert_eq!(format!("RIHS01_{}", lines[0]), description.hash().to_string(), "{name}");
    assert_eq!(lines[1], description.to_json(), "{name}");
    assert_eq!(bytes(lines[3]), DynamicMessage::new(&message_type).encode(), "the default of {name}");
}

fn check(case: &Case, (outcome, answer): (u8, Vec<u8>)) {
    let Case { message_type, encoded, expected } = case;
    let name = message_type.name();
    let text = || String::from_utf8_lossy(&answer).into_owned();
    match expected {
        Some(expected) => {
            assert_eq!(outcome, b'+', "{name}: {}, {encoded:02x?}", text());
            assert_eq!(answer, *expected, "{name}: {encoded:02x?}");
        }
        None => {
            assert_eq!(outcome, b'-', "{name} is decoded: {encoded:02x?}");
            let sentence = text();
            assert!(sentence.contains("_msgs/") || sentence.contains("_interfaces/"), "{name}: {sentence}");
        }
    }
}

fn request(letter: u8, name: &str, encoded: &[u8]) -> Vec<u8> {
    let mut request = vec![letter];
    for part in [name.as_bytes(), encoded] {
        request.extend(u32::try_from(part.len()).unwrap().to_ne_bytes());
        request.extend(part);
    }
    request
}

/// Runs the program, and returns its answers.
fn run(program: &Path, requests: Vec<u8>) -> Vec<(u8, Vec<u8>)> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // On a thread of its own: the program answers before it has read everything.
    let writer = thread::spawn(move || stdin.write_all(&requests));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    writer.join().unwrap().unwrap();
    let mut rest = &output.stdout[..];
    let mut answers = Vec::new();
    while let Some((outcome, behind)) = rest.split_first() {
        let (length, behind) = behind.split_first_chunk().unwrap();
        let (answer, behind) = behind.split_at(u32::from_ne_bytes(*length) as usize);
        answers.push((*outcome, answer.to_vec()));
        rest = behind;
    }
    answers
}
