//! What a program prints that does nothing for it: each test starts itself once more as such a
//! program, and reads its standard error.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use log::{Log, Metadata, Record};
use sinew::event::IncompatibleQos;
use sinew::executor::FaultPolicy;
use sinew::msg::TypeHash;
use sinew::prelude::*;
use sinew::qos::Liveliness;
use sinew::service::ServiceType;
use sinew::time::VirtualClock;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use support::{Number, Text, finishes};

/// What the other process is to be; absent in the test itself.
const ROLE: &str = "SINEW_TEST_ROLE";

/// Where it meets others.
const PLACE: &str = "SINEW_TEST_PLACE";

const ASKED: &str = "incompatible: durability (offers volatile, asked transient_local) with";

/// The role of this process, if it is another one.
fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// A program, with its standard input open until this is dropped.
struct Program {
    child: Child,
    errors: BufReader<ChildStderr>,
}

impl Program {
    /// Starts this test once more in another role, with `SINEW_LOG` as it says.
    fn start(test: &str, role: &str, level: &str, place: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, place)
            .env("SINEW_LOG", level)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors }
    }

    /// The next line that it prints.
    fn next(&mut self) -> String {
        let mut line = String::new();
        assert!(self.errors.read_line(&mut line).unwrap() > 0, "it has ended");
        line.trim_end().to_owned()
    }

    /// The lines that it still prints after the request to end.
    fn rest(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.errors.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest.lines().map(str::to_owned).collect()
    }
}

/// Everything that a program of this role prints.
fn printed(test: &'static str, role: &'static str, level: &'static str) -> Vec<String> {
    finishes(move || Program::start(test, role, level, Path::new("/")).rest())
}

/// A line's level, logger and text; its time is one.
#[track_caller]
fn parts(line: &str) -> (&str, &str, &str) {
    let (level, rest) = line.strip_prefix('[').unwrap().split_once("] [").expect(line);
    let (time, rest) = rest.split_once("] [").expect(line);
    let (seconds, fraction) = time.split_once('.').expect(line);
    assert!(seconds.parse::<u64>().unwrap() > 1_000_000_000 && fraction.len() == 9, "{line}");
    let (logger, text) = rest.split_once("]: ").expect(line);
    (level, logger, text)
}

/// Waits until the test is through with this process.
fn linger() {
    let _ = std::io::stdin().read(&mut [0]);
}

fn inside() -> Context {
    Context::builder().shared_memory(false).build().unwrap()
}

/// A pair that can't talk, in a process.
fn misfit(context: &Context) -> sinew::Result<()> {
    let (talker, misuser) = (context.node_in("/robot", "talker")?, context.node("misuser")?);
    let _publisher = talker.publisher::<Number>("/x").create()?;
    let asked = QoS::default().transient_local();
    let _subscription = misuser.subscription::<Number>("/x").qos(asked).create()?;
    Ok(())
}

#[test]
fn a_pair_that_cannot_match_is_reported_once_with_the_reason() -> sinew::Result<()> {
    const TEST: &str = "a_pair_that_cannot_match_is_reported_once_with_the_reason";
    if role().is_some() {
        let context = inside();
        misfit(&context)?;
        let (late, bad) = (context.node("late")?, QoS::default().deadline(Duration::from_millis(100)));
        let _numbers = context.node("numbers")?.publisher::<Number>("y").create()?;
        let _strict = late.subscription::<Number>("y").qos(bad).create()?;
        let _texts = late.subscription::<Text>("y").create()?;
        // An endpoint with a handler is notified by it: only the other end is warned.
        let received = |_: &IncompatibleQos| {};
        let _knows = late.subscription::<Number>("y").qos(bad).on_incompatible_qos(received).create()?;
        return Ok(());
    }
    let lines = printed(TEST, "program", "");
    let lines: Vec<_> = lines.iter().map(|line| parts(line)).collect();
    let [durability, deadline, types, other] = &lines[..] else { panic!("{lines:#?}") };
    let none = "no message of a publisher on";
    let text = format!("{none} /x is received, {ASKED} /robot/talker");
    assert_eq!(durability, &("WARN", "misuser", &*text));
    let why = "incompatible: deadline (offers none, asked 100ms) with";
    let text = format!("{none} /y is received, {why} /numbers");
    assert_eq!(deadline, &("WARN", "late", &*text));
    assert!(
        types.2.contains("incompatible: type (offers ") && types.2.ends_with(") with /numbers"),
        "{types:?}"
    );
    let text = format!("no message of this publisher goes to a subscription of /y, {why} /late");
    assert_eq!(other, &("WARN", "numbers", &*text));
    Ok(())
}

#[test]
fn levels_are_those_of_the_command_line_else_of_the_environment() -> sinew::Result<()> {
    const TEST: &str = "levels_are_those_of_the_command_line_else_of_the_environment";
    if let Some(role) = role() {
        let line = ["program", "--ros-args"].into_iter().chain(role.split_whitespace());
        let context = Context::builder().shared_memory(false).arguments(line).build()?;
        return misfit(&context);
    }
    for (line, level, received) in [
        ("", "", 1),
        ("", "error", 0),
        ("", "fatal,misuser:=debug", 1),
        ("--log-level error", "debug", 0),
        ("--log-level fatal --log-level misuser:=warn", "", 1),
        ("--log-level misuser:=ERROR", "", 0),
    ] {
        assert_eq!(printed(TEST, line, level).len(), received, "{line:?} with SINEW_LOG={level:?}");
    }
    let lines = printed(TEST, "", "loud");
    assert_eq!(lines.len(), 2, "{lines:?}");
    let (level, logger, text) = parts(&lines[1]);
    assert_eq!((level, logger), ("WARN", "sinew"));
    assert!(text.starts_with("SINEW_LOG has `loud`, which is no level: debug, info,"), "{text}");
    Ok(())
}

/// A program's own logger.
struct Own;

impl Log for Own {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        eprintln!("own {} {} {}", record.level(), record.target(), record.args());
    }

    fn flush(&self) {}
}

#[test]
fn a_program_s_own_logger_gets_it_instead_whenever_it_comes() -> sinew::Result<()> {
    const TEST: &str = "a_program_s_own_logger_gets_it_instead_whenever_it_comes";
    if role().is_some() {
        let context = inside();
        log::set_max_level(log::LevelFilter::Info); // a level is no logger
        misfit(&context)?;
        // Nothing was installed in its place.
        log::set_logger(&Own).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
        for _ in 0..20 {
            misfit(&context)?;
        }
        log::set_max_level(log::LevelFilter::Off); // it wants nothing, so nothing is printed
        return misfit(&context);
    }
    let lines = printed(TEST, "program", "");
    assert_eq!(lines.len(), 21, "{lines:#?}");
    assert_eq!(parts(&lines[0]).1, "misuser");
    for line in &lines[1..] {
        assert!(line.starts_with("own WARN sinew::"), "{line}");
        assert!(
            line.ends_with(&format!(
                "/misuser: no message of a publisher on /x is received, {ASKED} /robot/talker"
            )),
            "{line}"
        );
    }
    Ok(())
}

#[test]
fn a_warning_repeated_a_thousand_times_is_logged_five_times_and_counted() -> sinew::Result<()> {
    const TEST: &str = "a_warning_repeated_a_thousand_times_is_logged_five_times_and_counted";
    if role().is_some() {
        let context = inside();
        return (0..1000).try_for_each(|_| misfit(&context));
    }
    let lines = printed(TEST, "program", "");
    // One more for each ten seconds that the machine takes.
    assert!((5..50).contains(&lines.len()), "{lines:#?}");
    assert!(lines[..4].iter().all(|line| line.ends_with("/robot/talker")), "{lines:#?}");
    assert!(
        lines[4].ends_with("/robot/talker (further ones are counted, and one is logged every 10 s)"),
        "{lines:#?}"
    );
    assert!(lines[5..].iter().all(|line| line.contains(" like it since the last one")), "{lines:#?}");
    Ok(())
}

/// An error with a cause.
#[derive(Debug, thiserror::Error)]
#[error("{number} is odd")]
struct Odd {
    number: u64,
    #[source]
    cause: std::fmt::Error,
}

#[test]
fn failed_callbacks_are_reported_with_their_node_and_causes() -> sinew::Result<()> {
    const TEST: &str = "failed_callbacks_are_reported_with_their_node_and_causes";
    if role().is_some() {
        std::panic::set_hook(Box::new(|_| {}));
        let context = inside();
        let node = context.node_in("/robot", "arm")?;
        let numbers = node.publisher::<Number>("numbers").create()?;
        let _fails = node.subscription::<Number>("numbers").callback(|number: &Number| match number.0 {
            0 => panic!("no number"),
            number => Err(Odd { number, cause: std::fmt::Error }),
        })?;
        let executor = Executor::builder().on_panic(FaultPolicy::Report).build()?;
        executor.add(&context)?;
        numbers.publish(Number(1))?;
        numbers.publish(Number(0))?;
        executor.spin_some()?;
        return Ok(());
    }
    let lines = printed(TEST, "program", "");
    let lines: Vec<_> = lines.iter().map(|line| parts(line)).collect();
    let callback = "the callback of subscription to /robot/numbers of node /robot/arm";
    assert_eq!(
        lines,
        [
            ("ERROR", "robot.arm", &*format!("{callback} failed: 1 is odd; because: {}", std::fmt::Error)),
            ("ERROR", "robot.arm", &*format!("{callback} panicked: no number")),
        ]
    );
    Ok(())
}

#[test]
fn more_threads_than_an_executor_may_have_are_reported() -> sinew::Result<()> {
    const TEST: &str = "more_threads_than_an_executor_may_have_are_reported";
    if role().is_some() {
        assert_eq!(Executor::multi(61).threads(), 61);
        assert!((1..=61).contains(&Executor::multi(0).threads()));
        assert_eq!(Executor::multi(100).threads(), 61);
        assert_eq!(Executor::builder().threads(62).build()?.threads(), 61);
        return Ok(());
    }
    let lines = printed(TEST, "program", "");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, threads) in lines.iter().zip([100, 62]) {
        let (level, _, text) = parts(line);
        assert!(
            level == "WARN" && text.contains(&format!("61 threads at most: it gets these, not {threads};")),
            "{line}"
        );
    }
    Ok(())
}

#[test]
fn a_lost_lease_is_reported_unless_there_is_a_handler() -> sinew::Result<()> {
    const TEST: &str = "a_lost_lease_is_reported_unless_there_is_a_handler";
    if role().is_some() {
        let clock = VirtualClock::new();
        let context = Context::builder().virtual_time(&clock).build()?;
        let node = context.node("arm")?;
        let lease = QoS::default().liveliness(Liveliness::ManualByTopic).lease(Duration::from_millis(100));
        let publisher = node.publisher::<Number>("cmd").qos(lease).create()?;
        let _notified = node.publisher::<Number>("told").qos(lease).on_liveliness_lost(|| {}).create()?;
        let executor = Executor::single();
        executor.add(&context)?;
        executor.advance(Duration::from_millis(99))?;
        publisher.assert_liveliness();
        executor.advance(Duration::from_millis(99))?;
        eprintln!("late");
        executor.advance(Duration::from_secs(10))?;
        return Ok(());
    }
    let lines = printed(TEST, "program", "");
    let [late, lost] = &lines[..] else { panic!("{lines:#?}") };
    assert_eq!(late, "late");
    let text =
        "publisher on /cmd gave no sign of life for longer than its lease of 100ms: it counts as not alive";
    assert_eq!(parts(lost), ("WARN", "arm", text));
    Ok(())
}

/// Where the processes of a test meet. However long it takes, nothing is said of what is missing.
fn meeting(place: &Path) -> Context {
    Context::builder().domain(3).directory(place).hints_after(Duration::MAX).build().unwrap()
}

#[test]
fn missing_counterparts_are_reported_without_an_executor_or_a_look() -> sinew::Result<()> {
    const TEST: &str = "missing_counterparts_are_reported_without_an_executor_or_a_look";
    if role().is_some() {
        let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
        let line = ["program", "--ros-args", "-r", "wheel_sates:=elsewhere", "-p", "gian:=3"];
        let here = Context::builder().domain(3).directory(&place).arguments(line);
        // The first look is a while after the context has joined.
        let here = here.hints_after(Duration::ZERO).build()?;
        let there = meeting(&place);
        let driver = there.node("driver")?;
        let _states = driver.publisher::<Word>("wheel_states").create()?;
        let _twin = there.node("controller")?;
        let node = here.node("controller")?;
        let gain = node.parameter("gain").default(1_i64).create()?;
        let _states = node.subscription::<Word>("/wheel_stated").create()?;
        linger();
        assert_eq!(gain.get(), 1);
        return Ok(());
    }
    finishes(|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut program = Program::start(TEST, "program", "info", directory.path());
        let pid = program.child.id();
        let lines: Vec<_> = (0..4).map(|_| program.next()).collect();
        let received: Vec<_> = lines.iter().map(|line| parts(line)).collect();
        let twin = format!("another node is called /controller as well, in process {pid} (");
        let expected = [
            (
                "INFO",
                "controller",
                "no publisher of /wheel_stated yet, 0ns after this subscription was made; /driver publishes the same type as \
                 /wheel_states",
            ),
            ("WARN", "controller", twin.as_str()),
            (
                "WARN",
                "sinew",
                "remap rule `wheel_sates:=elsewhere` has matched nothing so far: no topic, service or action of /controller is \
                 called wheel_sates; it has wheel_stated",
            ),
            (
                "WARN",
                "sinew",
                "`-p gian:=..` has set nothing so far: no parameter of /controller is called gian; it has gain",
            ),
        ];
        for ((level, logger, text), received) in expected.iter().zip(&received) {
            assert_eq!((*level, *logger), (received.0, received.1), "{received:?}");
            assert!(received.2.starts_with(text), "{received:?}");
        }
        assert_eq!(program.rest(), Vec::<String>::new(), "once");
        Ok(())
    })
}

/// A program with a publisher on /x, which lingers.
fn talker() -> sinew::Result<()> {
    let context = meeting(&PathBuf::from(std::env::var_os(PLACE).unwrap()));
    let node = context.node("talker")?;
    let _publisher = node.publisher::<Word>("x").create()?;
    eprintln!("there");
    linger();
    Ok(())
}

#[derive(Message, Clone)]
struct Word {
    number: u32,
}

/// What has no form outside its process.
struct Inside;

impl Message for Inside {}

/// The same name elsewhere, but something else.
mod other {
    use sinew::prelude::*;

    #[derive(Message, Clone)]
    #[message(name = "warnings/msg/Other")]
    pub(crate) struct Word {
        pub(crate) number: u32,
    }
}

/// Parts of what is said of other types.
const OTHER: &str = "asked warnings/msg/Other)";
const INSIDE: &str = "Inside stays in its process";

#[test]
fn a_second_instance_of_a_program_with_types_of_its_own_is_not_warned() -> sinew::Result<()> {
    const TEST: &str = "a_second_instance_of_a_program_with_types_of_its_own_is_not_warned";
    if role().is_some() {
        let context = meeting(&PathBuf::from(std::env::var_os(PLACE).unwrap()));
        let node = context.node("program")?;
        let publisher = node.publisher::<Inside>("x").create()?;
        let subscription = node.subscription::<Inside>("x").create()?;
        eprintln!("there");
        linger();
        drop((subscription, publisher)); // then it has no partner any more
        return Ok(());
    }
    finishes(|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut first = Program::start(TEST, "program", "", directory.path());
        assert_eq!(first.next(), "there");
        let second = Program::start(TEST, "program", "", directory.path());
        assert_eq!(second.rest(), ["there"]);
        assert_eq!(first.rest(), Vec::<String>::new());
        Ok(())
    })
}

#[test]
fn a_pair_in_two_processes_is_reported_once_in_each() -> sinew::Result<()> {
    const TEST: &str = "a_pair_in_two_processes_is_reported_once_in_each";
    match role().as_deref() {
        Some("talker") => return talker(),
        Some(_) => {
            let context = meeting(&PathBuf::from(std::env::var_os(PLACE).unwrap()));
            let node = context.node("misuser")?;
            let asked = QoS::default().transient_local();
            // The first: when the talker has reported the others, it knows of this one, too.
            let _inside = node.subscription::<Inside>("x").create()?;
            let _subscription = node.subscription::<Word>("x").qos(asked).create()?;
            let _wrong = node.subscription::<other::Word>("x").create()?;
            linger();
            return Ok(());
        }
        None => {}
    }
    finishes(|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut talker = Program::start(TEST, "talker", "", directory.path());
        assert_eq!(talker.next(), "there");
        let misuser = Program::start(TEST, "misuser", "", directory.path());
        let mut here = Vec::new();
        while ![ASKED, OTHER].iter().all(|why| here.iter().any(|line: &String| line.contains(why))) {
            here.push(talker.next());
        }
        let pid = |program: &Program| program.child.id();
        let (of_talker, of_misuser) = (pid(&talker), pid(&misuser));
        let there = misuser.rest();
        // An endpoint that stays inside is reported when its partner here has been waited for, or
        // at the end.
        here.extend(talker.rest());
        for (lines, logger, other) in [
            (&here, "talker", format!("with /misuser in process {of_misuser} (")),
            (&there, "misuser", format!("with /talker in process {of_talker} (")),
        ] {
            assert_eq!(lines.len(), 3, "once: {lines:#?}");
            for why in [ASKED, OTHER, INSIDE] {
                let line = lines.iter().find(|line| line.contains(why)).expect(why);
                let (level, named, text) = parts(line);
                assert_eq!((level, named), ("WARN", logger));
                assert!(text.contains("incompatible: ") && text.contains(&other), "{line}");
            }
        }
        Ok(())
    })
}

/// Two services of one name, which are not the same.
struct Adds;

impl Service for Adds {
    type Request = Word;
    type Response = Word;
    const TYPE: Option<&'static ServiceType> =
        Some(&ServiceType { name: "warnings/srv/Adds", hash: TypeHash([1; 32]) });
}

struct Others;

impl Service for Others {
    type Request = other::Word;
    type Response = other::Word;
    const TYPE: Option<&'static ServiceType> =
        Some(&ServiceType { name: "warnings/srv/Others", hash: TypeHash([2; 32]) });
}

#[test]
fn a_client_of_another_type_than_its_server_is_reported() -> sinew::Result<()> {
    const TEST: &str = "a_client_of_another_type_than_its_server_is_reported";
    if role().is_some() {
        let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
        let (here, there) = (meeting(&place), meeting(&place));
        let _client = here.node("early")?.client::<Others>("add").create()?;
        let server = there.node("server")?;
        let _server = server.server::<Adds>("add").callback(|word: &Word| word.clone())?;
        let _late = here.node("late")?.client::<Others>("add").create()?;
        let _inside = there.node("inside")?.client::<Others>("add").create()?;
        // A thread of its context notifies the early one.
        let is_notified = here.node("known")?.client::<Adds>("add").create()?;
        assert!(is_notified.wait_for_server(Duration::from_secs(60)));
        return Ok(());
    }
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let place = directory.path().to_owned();
    let lines = finishes(move || Program::start(TEST, "program", "", &place).rest());
    let mut lines: Vec<_> = lines.iter().map(|line| parts(line)).collect();
    lines.sort_unstable();
    let [early, inside, late] = &lines[..] else { panic!("{lines:#?}") };
    for (line, node, server) in [
        (early, "early", "in process "),
        (inside, "inside", "in node /server"),
        (late, "late", "in process "),
    ] {
        assert_eq!((line.0, line.1), ("WARN", node));
        let text = format!("client of service /add: the server of /add {server}");
        assert!(line.2.starts_with(&text), "{line:?}");
        assert!(line.2.contains("has type warnings/srv/Adds (RIHS01_01"), "{line:?}");
        assert!(line.2.contains("the client has type warnings/srv/Others (RIHS01_02"), "{line:?}");
    }
    Ok(())
}

#[test]
fn programs_that_come_again_and_again_are_a_few_lines_and_a_count() -> sinew::Result<()> {
    const TEST: &str = "programs_that_come_again_and_again_are_a_few_lines_and_a_count";
    if role().is_some() {
        return talker();
    }
    finishes(|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut talker = Program::start(TEST, "talker", "", directory.path());
        assert_eq!(talker.next(), "there");
        let subscribe = |qos: QoS| -> sinew::Result<_> {
            let node = meeting(directory.path()).node("misuser")?;
            // Its own warning is no concern of this test.
            let received = |_: &IncompatibleQos| {};
            Ok((node.subscription::<Word>("x").qos(qos).on_incompatible_qos(received).create()?, node))
        };
        for _ in 0..50 {
            drop(subscribe(QoS::default().transient_local())?);
        }
        // When one that fits has matched, the talker has seen those before it.
        let (fits, _node) = subscribe(QoS::default())?;
        while fits.publisher_count() == 0 {
            std::thread::yield_now();
        }
        let lines = talker.rest();
        // One more for each ten seconds that the machine takes.
        assert!(lines.len() < 50, "{lines:#?}");
        assert!(lines.iter().all(|line| line.contains(ASKED)), "{lines:#?}");
        if let Some(fifth) = lines.get(4) {
            assert!(fifth.ends_with("(further ones are counted, and one is logged every 10 s)"), "{fifth}");
        }
        Ok(())
    })
}
