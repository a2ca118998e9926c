//! Logging, which is for a whole process and for ever: each test starts itself once more as a program
//! that logs, and reads what it leaves.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use sinew::LogLevel;
use sinew::logging::{self, Logger};
use sinew::prelude::*;
use sinew::time::Time;
use sinew_interfaces::rcl_interfaces::msg::{Log, LoggerLevel};
use sinew_interfaces::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevelsRequest, SetLoggerLevels, SetLoggerLevelsRequest,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use support::{Number, PATIENCE, Place, real_context, wait_for};

/// Says that this process is the program.
const PROGRAM: &str = "SINEW_TEST_PROGRAM";

/// Counts what each thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all of it is the system's, whose contract it keeps.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1)); // none in a thread that ends
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; it came from the system.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn is_program() -> bool {
    std::env::var_os(PROGRAM).is_some()
}

/// What a program leaves.
struct Left {
    /// On standard error.
    console: Vec<String>,
    /// In its log file, and that file's name.
    file: Vec<String>,
    name: String,
    succeeded: bool,
    _directory: tempfile::TempDir,
}

/// This test once more, as the program.
fn command(test: &str, environment: &[(&str, &str)]) -> (Command, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    for variable in ["SINEW_LOG", "ROS_HOME", "RUST_BACKTRACE"] {
        command.env_remove(variable);
    }
    command.env(PROGRAM, "1").env("ROS_LOG_DIR", directory.path()).envs(environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    (command, directory)
}

fn run(test: &str, environment: &[(&str, &str)]) -> Left {
    let (mut command, directory) = command(test, environment);
    left(command.spawn().unwrap(), directory)
}

fn left(child: Child, directory: tempfile::TempDir) -> Left {
    let output = child.wait_with_output().unwrap();
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let mut files = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next();
    assert_eq!(files.next(), None, "one program, one file");
    Left {
        console: lines(&output.stderr),
        name: file
            .as_ref()
            .map_or(String::new(), |path| path.file_name().unwrap().to_string_lossy().into_owned()),
        file: file.map_or(Vec::new(), |path| lines(&fs::read(path).unwrap())),
        succeeded: output.status.success(),
        _directory: directory,
    }
}

/// Lines without their times: `[INFO] [robot.arm]: ready`.
fn without_times(lines: &[String]) -> Vec<String> {
    let part = |line: &String| {
        let mut parts = line.splitn(3, ' ');
        let (level, time, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let time = time.strip_prefix('[')?.strip_suffix(']')?;
        let (seconds, nanoseconds) = time.split_once('.')?;
        assert!(seconds.parse::<u64>().is_ok() && nanoseconds.len() == 9, "{line}");
        Some(format!("{level} {rest}"))
    };
    lines.iter().map(|line| part(line).unwrap_or_else(|| line.clone())).collect()
}

fn context_with(arguments: &[&str]) -> sinew::Result<Context> {
    let line = ["robot", "--ros-args"].iter().chain(arguments).copied();
    Ok(Context::builder().shared_memory(false).domain(0).arguments(line).build()?)
}

#[test]
fn lines_go_to_the_console_and_a_file_and_look_as_ros_2_s() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::init()?;
        let node = real_context().node_in("/robot", "arm")?;
        let logger = node.logger();
        log::info!(target: logger.name(), "ready in {} s", 3);
        log::debug!(target: logger.name(), "not enabled");
        sinew::log!(logger.child("hand"), LogLevel::Fatal, "it is gone");
        log::warn!("a library's");
        return Ok(()); // what waits is written at the end
    }
    let left = run("lines_go_to_the_console_and_a_file_and_look_as_ros_2_s", &[]);
    let expected = [
        "[INFO] [robot.arm]: ready in 3 s",
        "[FATAL] [robot.arm.hand]: it is gone",
        "[WARN] [logging]: a library's",
    ];
    assert_eq!(without_times(&left.console), expected);
    assert_eq!(left.file, left.console);
    let [program, process, milliseconds] = left.name.rsplitn(3, '_').collect::<Vec<_>>()[..] else {
        panic!()
    };
    assert!(milliseconds.starts_with("logging-"), "the program's name: {}", left.name);
    assert!(process.parse::<u32>().is_ok() && program.ends_with(".log"), "{}", left.name);
    Ok(())
}

#[test]
fn rcutils_variables_say_how_lines_look() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        match logging::builder().file(false).init() {
            Ok(()) => log::warn!(target: "robot", "hot"),
            Err(error) => eprintln!("{error}"),
        }
        return Ok(());
    }
    let test = "rcutils_variables_say_how_lines_look";
    let format = ("RCUTILS_CONSOLE_OUTPUT_FORMAT", "{name}|{severity}|{message}|{file_name}|{function_name}");
    let left = run(test, &[format]);
    assert_eq!(left.console, ["robot|WARN|hot|crates/sinew-core/tests/logging.rs|logging"]);
    assert!(left.file.is_empty());
    let format = ("RCUTILS_CONSOLE_OUTPUT_FORMAT", "{message}");
    assert_eq!(run(test, &[format, ("RCUTILS_COLORIZED_OUTPUT", "1")]).console, ["\x1b[33mhot\x1b[0m"]);
    assert_eq!(run(test, &[format, ("RCUTILS_COLORIZED_OUTPUT", "0")]).console, ["hot"]);
    assert_eq!(run(test, &[format, ("RCUTILS_LOGGING_BUFFERED_STREAM", "0")]).console, ["hot"]);
    assert!(run(test, &[format, ("RCUTILS_LOGGING_USE_STDOUT", "1")]).console.is_empty());
    let wrong = run(test, &[("RCUTILS_COLORIZED_OUTPUT", "yes")]);
    assert_eq!(
        wrong.console,
        ["RCUTILS_COLORIZED_OUTPUT is `yes`, but must be 0 or 1: correct it or unset it"]
    );
    Ok(())
}

#[test]
fn the_command_line_says_how_much_and_where() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::init()?;
        let arguments = std::env::var("SINEW_TEST_ARGUMENTS")?;
        let _context = context_with(&arguments.split_whitespace().collect::<Vec<_>>())?;
        for logger in ["arm", "arm.hand", "camera::lens"] {
            log::debug!(target: logger, "debug");
            log::warn!(target: logger, "warn");
        }
        return Ok(());
    }
    let all = ["arm", "arm.hand", "camera.lens"].map(|logger| format!("[WARN] [{logger}]: warn"));
    for (arguments, console, file, name) in [
        ("", &all[..], &all[..], "logging-"),
        ("--disable-stdout-logs --log-file-name arm", &[], &all[..], "arm_"),
        ("--disable-external-lib-logs", &all[..], &[], ""),
        (
            "--disable-stdout-logs --enable-stdout-logs --log-level fatal --log-level arm:=warn",
            &all[..2],
            &all[..2],
            "l",
        ),
        ("--log-level error --log-level camera:=warn", &all[2..], &all[2..], "logging-"),
    ] {
        let left = run("the_command_line_says_how_much_and_where", &[("SINEW_TEST_ARGUMENTS", arguments)]);
        assert_eq!(without_times(&left.console), console, "{arguments}");
        assert_eq!(without_times(&left.file), file, "{arguments}");
        assert!(left.name.starts_with(name), "{arguments}: {}", left.name);
    }
    let debug = [("SINEW_TEST_ARGUMENTS", "--log-level error --log-level arm.hand:=debug")];
    let left = run("the_command_line_says_how_much_and_where", &debug);
    assert_eq!(without_times(&left.console), ["[DEBUG] [arm.hand]: debug", "[WARN] [arm.hand]: warn"]);
    Ok(())
}

/// What was published of a node's lines.
fn next_line(subscription: &Subscription<Log>) -> (String, u8, String) {
    let (log, _) = wait_for("a line on /rosout", || subscription.take());
    (log.name.clone(), log.level, log.msg.clone())
}

#[test]
fn lines_of_nodes_are_on_rosout_also_for_those_who_come_late() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        let place = Place::new();
        let (robot, tools) = (place.context(), place.context());
        let node = robot.node_in("/robot", "arm")?;
        let logger = node.logger();
        let before = Time::wall();
        log::warn!(target: logger.name(), "hot");
        sinew::log!(logger.child("hand"), LogLevel::Error, "open");
        log::warn!(target: "library", "of no node");
        log::warn!(target: "robot.armoury", "of another name");
        assert!(logging::flush(PATIENCE));
        // One in its own process, one through shared memory: both come late.
        for (listener, earlier) in [(robot.node("near")?, None), (tools.node("far")?, Some("for /near"))] {
            let lines = listener.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
            let (log, _) = wait_for("a line on /rosout", || lines.take());
            let stamp = Time::from(log.stamp);
            assert!(before <= stamp && stamp <= Time::wall());
            assert_eq!((log.name.as_str(), log.level, log.msg.as_str()), ("robot.arm", 30, "hot"));
            assert_eq!(
                (log.file.as_str(), log.function.as_str()),
                ("crates/sinew-core/tests/logging.rs", "logging")
            );
            assert!(log.line > 0);
            assert_eq!(next_line(&lines), ("robot.arm.hand".to_owned(), 50 - 10, "open".to_owned()));
            log::info!(target: logger.name(), "for {}", listener.full_name());
            let next = [next_line(&lines).2]
                .into_iter()
                .chain(earlier.map(|_| next_line(&lines).2))
                .collect::<Vec<_>>();
            let expected =
                earlier.map(str::to_owned).into_iter().chain([format!("for {}", listener.full_name())]);
            assert_eq!(next, expected.collect::<Vec<_>>(), "nothing else came between");
            assert_eq!(lines.publisher_count(), 1, "one per node that says something");
        }
        // A node is there as long as anything of it, and its publisher as long as the node.
        let timer = node.timer(Duration::from_secs(3600)).callback(|| ())?;
        drop(node);
        let listener = tools.node("listener")?;
        let lines = listener.subscription::<Log>("/rosout").qos(QoS::rosout().volatile()).create()?;
        wait_for("the publisher is found", || (lines.publisher_count() == 1).then_some(()));
        log::info!(target: logger.name(), "without a handle");
        assert_eq!(next_line(&lines).2, "without a handle");
        drop(timer);
        wait_for("the publisher goes with the node", || (lines.publisher_count() == 0).then_some(()));
        return Ok(());
    }
    let left = run("lines_of_nodes_are_on_rosout_also_for_those_who_come_late", &[]);
    assert!(left.succeeded, "{:#?}", left.console);
    Ok(())
}

#[test]
fn rosout_can_be_switched_off() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        for (arguments, publishers) in [(&["--disable-rosout-logs"][..], 0), (&[], 1)] {
            let context = context_with(arguments)?;
            let node = context.node("arm")?;
            let lines = node.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
            log::warn!(target: node.logger().name(), "hot");
            assert!(logging::flush(PATIENCE));
            assert_eq!(lines.publisher_count(), publishers);
        }
        return Ok(());
    }
    assert!(run("rosout_can_be_switched_off", &[]).succeeded);
    Ok(())
}

#[test]
fn a_bare_node_is_not_on_rosout() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        let context = context_with(&[])?;
        let bare = context.node_builder("arm").bare().create()?;
        let lines = bare.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
        log::warn!(target: bare.logger().name(), "hot");
        assert!(logging::flush(PATIENCE));
        assert_eq!(lines.publisher_count(), 0);
        return Ok(());
    }
    assert!(run("a_bare_node_is_not_on_rosout", &[]).succeeded);
    Ok(())
}

#[test]
fn a_node_chooses_its_rosout() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        let context = context_with(&[])?;
        let reader = context.node_builder("reader").rosout(false).create()?;
        let lines = reader.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
        let late = QoS::rosout().volatile();
        let quiet = context.node_builder("arm").rosout(false).create()?;
        let other = context.node_builder("hand").rosout_qos(late).create()?;
        log::warn!(target: quiet.logger().name(), "hot");
        log::warn!(target: other.logger().name(), "hot");
        assert!(logging::flush(PATIENCE));
        let endpoints = reader.graph().publishers("/rosout");
        let of: Vec<_> = endpoints.iter().map(|one| (one.node.as_str(), one.qos.durability)).collect();
        assert_eq!(of, [("/hand", late.durability)]);
        assert_eq!(lines.publisher_count(), 0, "volatile lines are no match for a late reader");
        let none = context.node_builder("foot").rosout_qos(QoS::rosout().keep_last(0)).create();
        assert!(none.unwrap_err().to_string().contains("/rosout"));
        return Ok(());
    }
    assert!(run("a_node_chooses_its_rosout", &[]).succeeded);
    Ok(())
}

#[test]
fn levels_are_read_and_set_by_services() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().file(false).init()?;
        let place = Place::new();
        let (robot, tools) = (place.context(), place.context());
        let node = robot.node("arm")?;
        let services = node.logger_services()?;
        // By a client of the same process, and by one of another.
        for asker in [robot.node("asker")?, tools.node("asker")?] {
            let get = asker.client::<GetLoggerLevels>("/arm/get_logger_levels").create()?;
            let set = asker.client::<SetLoggerLevels>("/arm/set_logger_levels").create()?;
            assert!(get.wait_for_server(PATIENCE) && set.wait_for_server(PATIENCE));
            let levels = |names: &[&str]| {
                let names = names.iter().map(|name| (*name).to_owned()).collect();
                let response = get.call(GetLoggerLevelsRequest { names }, PATIENCE).unwrap();
                response.levels.iter().map(|level| level.level).collect::<Vec<_>>()
            };
            let change = |name: &str, level| {
                let levels = vec![LoggerLevel { name: name.to_owned(), level }];
                let response = set.call(SetLoggerLevelsRequest { levels }, PATIENCE).unwrap();
                (response.results[0].successful, response.results[0].reason.clone())
            };
            let hand = node.logger().child("hand");
            assert_eq!(levels(&["arm", "arm.hand", ""]), [0, 0, 20]);
            log::debug!(target: hand.name(), "too early");
            assert_eq!(change("arm", 10), (true, String::new()));
            assert_eq!(levels(&["arm", "arm.hand"]), [10, 0]);
            assert!(
                hand.is_enabled(LogLevel::Debug) && log::log_enabled!(target: "arm.hand", log::Level::Debug)
            );
            log::debug!(target: hand.name(), "said");
            let (successful, reason) = change("arm", 33);
            assert!(!successful && reason.contains("logger `arm` can't have the level 33"), "{reason}");
            assert_eq!(change("arm", 0), (true, String::new()));
            log::debug!(target: hand.name(), "too late");
            assert_eq!(change("", 50).0, change("", 0).0);
        }
        drop(services);
        return Ok(());
    }
    let left = run("levels_are_read_and_set_by_services", &[]);
    assert!(left.succeeded, "{:#?}", left.console);
    assert_eq!(without_times(&left.console), ["[DEBUG] [arm.hand]: said"; 2]);
    Ok(())
}

/// The logging thread looks for the node of a line while that node is being dropped.
#[test]
fn last_words_of_many_nodes_are_all_on_rosout() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        let context = real_context();
        let listener = context.node("listener")?;
        let lines = listener.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
        for number in 0..1_000 {
            let node = context.node("arm")?;
            log::error!(target: node.logger().name(), "last words {number}");
            drop(node);
            assert_eq!(next_line(&lines).2, format!("last words {number}"));
        }
        return Ok(());
    }
    let left = run("last_words_of_many_nodes_are_all_on_rosout", &[]);
    assert!(left.succeeded, "{:#?}", left.console);
    Ok(())
}

const FLOOD: u64 = 50_000;

#[test]
fn what_a_node_says_last_is_on_rosout() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        let place = Place::new();
        for context in [place.context(), real_context()] {
            let listener = context.node("listener")?;
            let lines = listener.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
            for (round, says_more) in [(0, false), (1, true)] {
                let node = context.node("arm")?;
                if says_more {
                    log::info!(target: node.logger().name(), "first words");
                    assert!(logging::flush(PATIENCE));
                    assert_eq!(next_line(&lines).2, "first words");
                }
                log::error!(target: node.logger().name(), "last words {round}");
                drop(node);
                assert_eq!(next_line(&lines).2, format!("last words {round}"));
                wait_for("its publisher goes", || (lines.publisher_count() == 0).then_some(()));
            }
        }
        return Ok(());
    }
    let left = run("what_a_node_says_last_is_on_rosout", &[]);
    assert!(left.succeeded, "{:#?}", left.console);
    Ok(())
}

#[test]
fn a_flood_blocks_no_caller_and_what_is_lost_is_counted() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().file(false).init()?;
        std::thread::scope(|scope| {
            for thread in 0..2 {
                scope.spawn(move || {
                    (0..FLOOD / 2).for_each(|line| log::warn!(target: "flood", "{thread} {line}"))
                });
            }
        });
        // They are through, though nobody reads the console yet.
        println!("through");
        std::io::stdin().read_exact(&mut [0])?;
        assert!(logging::flush(PATIENCE));
        return Ok(());
    }
    let (mut command, directory) = command("a_flood_blocks_no_caller_and_what_is_lost_is_counted", &[]);
    let mut child = command.spawn()?;
    let mut said = String::new();
    let mut output = child.stdout.take().unwrap();
    while !said.contains("through") {
        let mut byte = [0];
        output.read_exact(&mut byte)?;
        said.push(byte[0].into());
    }
    child.stdin.take().unwrap().write_all(b"\n")?;
    child.stdout = Some(output);
    let left = left(child, directory);
    let lines = without_times(&left.console);
    let (flood, notices): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| line.starts_with("[WARN] [flood]: "));
    let dropped: u64 = notices
        .iter()
        .map(|line| line.strip_prefix("[WARN] [sinew]: ").unwrap().split_once(' ').unwrap())
        .inspect(|(_, rest)| assert!(rest.starts_with("log lines were dropped"), "{rest}"))
        .map(|(number, _)| number.parse::<u64>().unwrap())
        .sum();
    assert!(dropped > 0, "the pipe and the queue are smaller than that");
    assert_eq!(flood.len() as u64 + dropped, FLOOD);
    for thread in ["0", "1"] {
        let of_thread = |line: &&&String| line.split(' ').nth(2) == Some(thread);
        let numbers: Vec<u64> = flood
            .iter()
            .filter(of_thread)
            .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(numbers.is_sorted(), "each thread's lines are in order");
    }
    Ok(())
}

#[test]
fn a_console_that_nobody_reads_and_a_file_that_cannot_be_are_no_end() -> Result<(), Box<dyn std::error::Error>>
{
    if is_program() {
        logging::init()?;
        let long = std::env::var("SINEW_TEST_LONG").unwrap_or_default();
        for round in 0..3 {
            log::warn!(target: "arm", "round {round}{long}");
            assert!(logging::flush(PATIENCE));
        }
        return Ok(());
    }
    let test = "a_console_that_nobody_reads_and_a_file_that_cannot_be_are_no_end";
    let (mut command, directory) = command(test, &[]);
    let mut child = command.spawn()?;
    drop(child.stderr.take()); // a closed pipe
    let left = left(child, directory);
    assert!(left.succeeded);
    let rounds = [0, 1, 2].map(|round| format!("[WARN] [arm]: round {round}"));
    assert_eq!(without_times(&left.file), rounds);

    let file = tempfile::NamedTempFile::new()?;
    let no_directory = file.path().join("log");
    let left = run(test, &[("ROS_LOG_DIR", no_directory.to_str().unwrap())]);
    let lines = without_times(&left.console);
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(
        lines[1].starts_with("[WARN] [sinew]: log lines are lost: "),
        "told once, with the first: {lines:#?}"
    );
    assert_eq!([&lines[0], &lines[2], &lines[3]], [&rounds[0], &rounds[1], &rounds[2]]);

    // So much that it is written before the batch is through.
    let long = "x".repeat(100 << 10);
    let left = run(test, &[("ROS_LOG_DIR", no_directory.to_str().unwrap()), ("SINEW_TEST_LONG", &long)]);
    let reports = left.console.iter().filter(|line| line.contains("log lines are lost: ")).count();
    assert_eq!(reports, 1);
    Ok(())
}

#[test]
fn what_was_said_stands_before_a_panic_and_is_there_at_every_end() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().file(false).init()?;
        log::warn!(target: "arm", "last words");
        match std::env::var("SINEW_TEST_END")?.as_str() {
            "panic" => panic!("the end"),
            "exit" => std::process::exit(3),
            _ => return Ok(()),
        }
    }
    let test = "what_was_said_stands_before_a_panic_and_is_there_at_every_end";
    for (end, succeeds) in [("panic", false), ("exit", false), ("return", true)] {
        let left = run(test, &[("SINEW_TEST_END", end)]);
        assert_eq!(left.succeeded, succeeds);
        assert_eq!(without_times(&left.console[..1]), ["[WARN] [arm]: last words"], "{end}");
        assert_eq!(left.console.iter().any(|line| line == "the end"), end == "panic", "{:#?}", left.console);
    }
    Ok(())
}

#[test]
fn a_line_allocates_its_text_and_nothing_else() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().console(false).file(false).init()?;
        let logger = Logger::named("robot.arm");
        let node = real_context().node("arm")?;
        let count = |work: &dyn Fn()| {
            let before = ALLOCATIONS.get();
            work();
            ALLOCATIONS.get() - before
        };
        for _ in 0..100 {
            assert_eq!(count(&|| log::info!(target: logger.name(), "literal")), 1);
            assert_eq!(count(&|| log::info!(target: logger.name(), "{} of {}", 3, 4.5)), 1);
            assert_eq!(count(&|| sinew::log!(logger, LogLevel::Fatal, "{} of {}", 3, 4.5)), 1);
            assert_eq!(count(&|| log::debug!(target: logger.name(), "{} of {}", 3, 4.5)), 0);
            assert_eq!(count(&|| sinew::log!(logger, LogLevel::Debug, "{} of {}", 3, 4.5)), 0);
            assert_eq!(count(&|| sinew::info!(node, "{} of {}", 3, 4.5)), 1);
            assert_eq!(count(&|| sinew::debug!(node, "{} of {}", 3, 4.5)), 0);
            assert_eq!(count(&|| sinew::debug_throttle!(PATIENCE, node, "{} of {}", 3, 4.5)), 0);
        }
        return Ok(());
    }
    let left = run("a_line_allocates_its_text_and_nothing_else", &[]);
    assert!(left.succeeded, "{:#?}", left.console);
    Ok(())
}

#[test]
fn what_sinew_says_goes_the_same_way() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::init()?;
        let node = real_context().node_in("/robot", "arm")?;
        let lines = node.subscription::<Log>("/rosout").qos(QoS::rosout()).create()?;
        let _offers = node.publisher::<Number>("numbers").create()?;
        let _asks = node.subscription::<Number>("numbers").qos(QoS::default().transient_local()).create()?;
        let (name, level, message) = next_line(&lines);
        assert_eq!((name.as_str(), level), ("robot.arm", 30));
        assert!(message.contains("/robot/numbers"), "{message}");
        assert!(logging::init().is_err(), "there is one logger in a process");
        return Ok(());
    }
    let left = run("what_sinew_says_goes_the_same_way", &[]);
    assert!(left.succeeded, "{:#?}", left.console);
    assert!(without_times(&left.console)[0].starts_with("[WARN] [robot.arm]: "), "{:#?}", left.console);
    assert_eq!(left.file, left.console);
    Ok(())
}

#[test]
fn once_now_and_then_and_not_at_first() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().file(false).init()?;
        let context = real_context();
        let logger = context.node("arm")?.logger();
        for second in 0..10 {
            context.set_ros_time(Some(Time::from_nanoseconds(1_000_000_000 * second)));
            sinew::log_once!(logger, LogLevel::Info, "once {second}");
            sinew::log_skip_first!(logger, LogLevel::Info, "skip {second}");
            sinew::log_throttle!(logger, LogLevel::Info, Duration::from_secs(4), "throttle {second}");
        }
        return Ok(());
    }
    let left = run("once_now_and_then_and_not_at_first", &[]);
    let said = |what: &str| {
        let message = |line: &String| line.split_once("]: ").unwrap().1.strip_prefix(what).map(str::to_owned);
        without_times(&left.console).iter().filter_map(message).collect::<Vec<_>>().join("")
    };
    assert_eq!((said("once").as_str(), said("throttle").as_str()), (" 0", " 0 4 8"));
    assert_eq!(said("skip"), " 1 2 3 4 5 6 7 8 9");
    Ok(())
}

#[test]
fn what_is_not_said_is_not_evaluated_and_not_said_once() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().file(false).init()?;
        let logger = Logger::named("arm");
        let evaluated = Cell::new(0);
        let count = || evaluated.replace(evaluated.get() + 1);
        for level in [LogLevel::Info, LogLevel::Debug] {
            logger.set_level(Some(level));
            for _ in 0..2 {
                sinew::log!(logger, LogLevel::Debug, "always {}", count());
                sinew::log_once!(logger, LogLevel::Debug, "once {}", count());
                sinew::log_skip_first!(logger, LogLevel::Debug, "skip {}", count());
                sinew::log_throttle!(logger, LogLevel::Debug, PATIENCE, "throttle {}", count());
            }
        }
        return Ok(());
    }
    let left = run("what_is_not_said_is_not_evaluated_and_not_said_once", &[]);
    let said: Vec<_> = without_times(&left.console);
    let expected = ["always 0", "once 1", "throttle 2", "always 3", "skip 4"];
    assert_eq!(said, expected.map(|text| format!("[DEBUG] [arm]: {text}")));
    Ok(())
}

#[test]
fn each_level_has_its_macros_for_nodes_loggers_and_names() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        logging::builder().file(false).init()?;
        let context = real_context();
        let node = context.node_in("/robot", "arm")?;
        node.logger().set_level(Some(LogLevel::Debug));
        let (borrowed, owned, shared) = (&node, "robot.arm.owned".to_owned(), Arc::new(node.clone()));
        let volts = 12;
        sinew::trace!(node, "{volts} V");
        sinew::debug!(borrowed, "{} V", volts);
        sinew::info!(node.logger().child("hand"), "{volts:3} V",);
        sinew::warn!("robot.arm.name", "a literal");
        sinew::error!(owned, concat!("{} ", "V"), volts);
        sinew::fatal!(shared, "{what}", what = "named");
        node.logger().set_level(Some(LogLevel::Fatal));
        Logger::named("").set_level(Some(LogLevel::Fatal));
        sinew::error!(node, "not said");
        sinew::fatal!(node, "whatever the levels are");
        Logger::named("").set_level(None);
        node.logger().set_level(None);
        for second in 0..3 {
            context.set_ros_time(Some(Time::from_nanoseconds(1_000_000_000 * second)));
            sinew::info_once!(node, "once {second}");
            sinew::warn_skip_first!(node, "skip {second}");
            sinew::error_throttle!(Duration::from_secs(2), node, "throttle {second}");
        }
        return Ok(());
    }
    let left = run("each_level_has_its_macros_for_nodes_loggers_and_names", &[]);
    let expected = [
        "[DEBUG] [robot.arm]: 12 V",
        "[DEBUG] [robot.arm]: 12 V",
        "[INFO] [robot.arm.hand]:  12 V",
        "[WARN] [robot.arm.name]: a literal",
        "[ERROR] [robot.arm.owned]: 12 V",
        "[FATAL] [robot.arm]: named",
        "[FATAL] [robot.arm]: whatever the levels are",
        "[INFO] [robot.arm]: once 0",
        "[ERROR] [robot.arm]: throttle 0",
        "[WARN] [robot.arm]: skip 1",
        "[WARN] [robot.arm]: skip 2",
        "[ERROR] [robot.arm]: throttle 2",
    ];
    assert_eq!(without_times(&left.console), expected);
    Ok(())
}

/// Without `init` they are lines of the `log` crate, of its levels and with the logger as target.
#[test]
fn another_logger_of_the_log_crate_gets_the_lines() -> Result<(), Box<dyn std::error::Error>> {
    struct Printer;
    impl log::Log for Printer {
        fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
            metadata.target() != "robot.quiet"
        }
        fn log(&self, record: &log::Record<'_>) {
            if self.enabled(record.metadata()) {
                let (level, target, module) = (record.level(), record.target(), record.module_path());
                eprintln!("{level} {target} {}: {}", module.unwrap_or(""), record.args());
            }
        }
        fn flush(&self) {}
    }
    if is_program() {
        log::set_logger(&Printer).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
        let node = real_context().node_in("/robot", "arm")?;
        sinew::trace!(node, "traced");
        sinew::fatal!(node, "fatal");
        let evaluated = Cell::new(0);
        sinew::error!("robot.quiet", "{}", evaluated.replace(1));
        sinew::error_once!("robot.quiet", "{}", evaluated.replace(1));
        log::set_max_level(log::LevelFilter::Warn);
        sinew::info!(node, "{}", evaluated.replace(1));
        eprintln!("{} evaluated", evaluated.get());
        return Ok(());
    }
    let left = run("another_logger_of_the_log_crate_gets_the_lines", &[]);
    let lines: Vec<_> = left.console.iter().map(String::as_str).collect();
    assert_eq!(lines, ["TRACE robot.arm logging: traced", "ERROR robot.arm logging: fatal", "0 evaluated"]);
    Ok(())
}

#[cfg(feature = "tracing")]
#[test]
fn events_of_tracing_are_lines() -> Result<(), Box<dyn std::error::Error>> {
    use tracing_subscriber::layer::SubscriberExt as _;
    if is_program() {
        logging::builder().file(false).init()?;
        // Not by `init`, which would be a second logger of the log crate if zenoh is built as well.
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(logging::TracingLayer))?;
        let _plan = tracing::info_span!("plan").entered();
        tracing::warn!(target: "robot.arm", joint = 3, name = "elbow", "hot: {} K", 350);
        tracing::debug!(target: "robot.arm", "not enabled");
        return Ok(());
    }
    let left = run("events_of_tracing_are_lines", &[]);
    assert_eq!(without_times(&left.console), ["[WARN] [robot.arm]: plan: hot: 350 K joint=3 name=elbow"]);
    Ok(())
}

#[test]
fn what_ends_with_its_context_is_no_error() -> Result<(), Box<dyn std::error::Error>> {
    if is_program() {
        let context = context_with(&[])?;
        let node = context.node("arm")?;
        let (done, publisher) = (context.clone(), node.publisher::<Number>("numbers").create()?);
        let guard = node.guard_condition().called("gripper").callback(move || {
            publisher.publish(Number(1))?;
            done.shutdown();
            publisher.publish(Number(2))
        })?;
        let failing = node.guard_condition().callback(|| Err("stuck"))?;
        failing.trigger();
        guard.trigger();
        return Ok(sinew::spin(&context)?);
    }
    let left = run("what_ends_with_its_context_is_no_error", &[("SINEW_LOG", "info")]);
    assert!(left.succeeded);
    let said = without_times(&left.console);
    let expected = [
        "[ERROR] [arm]: the callback of guard condition of node /arm failed: stuck",
        "[INFO] [arm]: the callback of gripper of node /arm failed: the message was not published: the context is shut \
         down (its context was shut down meanwhile)",
    ];
    for line in expected {
        assert!(said.iter().any(|said| said == line), "{said:#?}");
    }
    Ok(())
}
