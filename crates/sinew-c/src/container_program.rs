//! The program `sinew-container`: a container with an executor.

use crate::array::texts;
use crate::component_library::{load, of_package};
use crate::container::made;
use crate::status::{Failure, Result, answer};
use crate::test_camera;
use sinew::error::ErrorCode;
use sinew::logging::{self, LoggingError};
use sinew::{Context, Executor};
use std::ffi::{c_char, c_int};
use std::num::NonZero;

const HELP: &str = "\
sinew-container: makes nodes of components, which are in shared libraries of C and C++.

usage: sinew-container [options] [--ros-args ..]
  --library FILE            loads a library with components (sinew_components)
  --package NAME            loads the libraries of a package in AMENT_PREFIX_PATH, or that file
  --component TYPE[=NODE]   makes a node; sinew::TestCamera, a camera for trials, needs no library
  --threads N               runs callbacks on N threads, `all`: one for each core; by default on one
  --help                    this text

Nodes come and go by `sinew component load`, `unload` and `list`, or ROS 2's `ros2 component`.
";

/// What the command line asks for.
#[derive(Default)]
struct Wanted {
    libraries: Vec<String>,
    packages: Vec<String>,
    threads: Option<usize>,
    needs_help: bool,
}

/// The whole of a program that is a container: reads its command line, makes the nodes that it
/// names, and runs their callbacks until SIGINT or SIGTERM. `main` of the program `sinew-container`
/// only calls this, as may that of a program with Rust nodes of its own.
///
/// Returns the program's exit code: 0, or 1 after a failure, which is printed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_container_run(argc: c_int, argv: *const *const c_char) -> c_int {
    answer(1, || {
        let count = usize::try_from(argc).unwrap_or(0);
        // SAFETY: the caller's array of texts.
        let line = unsafe { texts(argv, count, "argv") }?;
        let ran = run(&line);
        if let Err(failure) = &ran {
            eprintln!("sinew-container: {}", failure.sentence());
        }
        ran.map(|()| 0)
    })
}

fn run(line: &[&str]) -> Result {
    let context = Context::builder().arguments(line.iter().copied()).interrupts(true).build()?;
    let wanted = Wanted::read(context.arguments().rest().get(1..).unwrap_or_default())?;
    if wanted.needs_help {
        print!("{HELP}");
        return Ok(());
    }
    match logging::init() {
        Ok(()) | Err(LoggingError::Taken) => {} // the program may have a logger of its own
        Err(error) => return Err(error.into()),
    }
    let mut components = vec![test_camera::component()];
    for library in &wanted.libraries {
        components.extend(load(library)?);
    }
    for package in &wanted.packages {
        components.extend(of_package(package, None)?);
    }
    let executor = match wanted.threads {
        None | Some(1) => Executor::single(),
        Some(threads) => Executor::multi(threads),
    };
    let _container = made(&context, "sinew_container", components)?;
    executor.add(&context)?;
    Ok(executor.spin()?)
}

impl Wanted {
    fn read(line: &[String]) -> Result<Self> {
        let mut wanted = Self::default();
        let mut words = line.iter();
        while let Some(word) = words.next() {
            let (option, attached) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word.as_str(), None),
            };
            if matches!(option, "--help" | "-h") {
                wanted.needs_help = true;
                continue;
            }
            if !matches!(option, "--library" | "--package" | "--component" | "--threads") {
                return Err(invalid(format_args!("the option `{word}` is unknown; see --help")));
            }
            let value = attached.or_else(|| words.next().map(String::as_str));
            let value = value.ok_or_else(|| invalid(format_args!("`{option}` needs a value after it")))?;
            match option {
                "--library" => wanted.libraries.push(value.to_owned()),
                "--package" => wanted.packages.push(value.to_owned()),
                "--threads" => wanted.threads = Some(threads(value)?),
                _ => {} // the container reads it
            }
        }
        Ok(wanted)
    }
}

fn threads(value: &str) -> Result<usize> {
    if value == "all" {
        return Ok(std::thread::available_parallelism().map_or(1, NonZero::get));
    }
    value.parse().ok().filter(|threads| (1..=1024).contains(threads)).ok_or_else(|| {
        invalid(format_args!("`--threads` can't be `{value}`: it is `all`, or a number from 1 to 1024"))
    })
}

fn invalid(sentence: std::fmt::Arguments<'_>) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, sentence)
}
