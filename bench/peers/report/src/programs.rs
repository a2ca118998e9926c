//! The programs that take part: peers of this workspace, which are built one by one, and adapters
//! that are found on the machine.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use harness::{Peer, System};
use sinew_bench::options::PeersOptions;

use crate::turn::{Turn, Turns, answer};

/// The peers of this workspace; the program of each is called `peer-` and its name.
pub const BUILT: [&str; 8] = ["zenoh", "iceoryx2", "channels", "os", "tonic", "thrift", "hiroz", "morn"];

/// Peers that take part only through programs that are found on the machine.
const FOUND: [(&str, &str); 1] = [("ros2", "ROS 2")];

/// The prefix of adapters' names.
const ADAPTER: &str = "sinew-peer-";

/// Time limit for a program's description of itself.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that takes part.
pub struct Participant {
    /// Its path.
    pub program: PathBuf,
    /// Its description of itself, without parts that weren't requested.
    pub peer: Peer,
}

/// A peer that can't be measured here.
pub struct Missing {
    /// The peer, or one way to use it.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// Returns the directory of this workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Builds and finds all requested programs. `say` is called with the current step.
///
/// # Errors
///
/// If a requested program doesn't exist at all.
pub fn gather(
    options: &PeersOptions,
    turns: &Turns,
    mut say: impl FnMut(&str),
) -> Result<(Vec<Participant>, Vec<Missing>)> {
    let (mut participants, mut missing) = (Vec::new(), Vec::new());
    let mut miss = |name: &str, reason: String| missing.push(Missing { name: name.to_owned(), reason });
    let mut programs = Vec::new();
    for name in BUILT {
        // A system's name may be requested, which only the program knows: `zenoh, one session`.
        if !options.peers.is_empty()
            && !options.peers.iter().any(|asked| begins_with(asked, name))
            && !is_way(options, name)
        {
            continue;
        }
        if turns.asked() {
            break;
        }
        if !options.no_build {
            say(&format!("building peer-{name}"));
        }
        match built(name, options.no_build) {
            // A signal also ends the build.
            Err(_) if turns.asked() => break,
            Ok(program) => programs.push((name.to_owned(), program)),
            Err(reason) => miss(name, format!("{reason:#}")),
        }
    }
    programs.extend(options.adapters.iter().map(|path| (adapter_name(path), path.clone())));
    programs.extend(adapters_in_path(std::env::var_os("PATH").unwrap_or_default().as_os_str()));
    for (name, program) in programs {
        match describe(&program, turns) {
            Ok(peer) => participants.push(Participant { program, peer }),
            Err(reason) => {
                let file = program.file_name().unwrap_or_default().display();
                miss(&name, format!("{file} doesn't say what it is: {reason:#}"));
            }
        }
    }
    for (name, title) in FOUND {
        let there = participants.iter().any(|found: &Participant| {
            begins_with(&found.peer.peer, name) || begins_with(&adapter_name(&found.program), name)
        });
        if !there && (options.peers.is_empty() || options.peers.iter().any(|asked| begins_with(asked, name)))
        {
            let reason = format!(
                "not on this machine: put a program named {ADAPTER}{name} in PATH that answers `systems` and `run`"
            );
            miss(title, reason);
        }
    }
    for participant in &mut participants {
        let name = participant.peer.peer.clone();
        let is_asked_for = |system: &System| {
            options.peers.is_empty()
                || options.peers.iter().any(|asked| same(asked, &name) || same(asked, &system.name))
        };
        participant.peer.systems.retain(is_asked_for);
        for system in &participant.peer.systems {
            if let Some(reason) = &system.unavailable {
                miss(&system.name, reason.clone());
            }
        }
        participant.peer.systems.retain(|system| system.unavailable.is_none());
    }
    participants.retain(|participant| !participant.peer.systems.is_empty());
    distinct_names(&mut participants);
    let known = |asked: &String| {
        let names = BUILT.iter().chain(FOUND.iter().map(|(name, _)| name));
        names.into_iter().any(|name| begins_with(asked, name))
    };
    let found = !participants.is_empty() || options.peers.is_empty() || options.peers.iter().any(known);
    ensure!(found || turns.asked(), "no peer is called {}: --list names them", options.peers.join(" or "));
    Ok((participants, missing))
}

fn same(asked: &str, name: &str) -> bool {
    asked.eq_ignore_ascii_case(name)
}

fn begins_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|begin| same(begin, name))
}

/// Returns `true` if one of the ways of `channels` and `os` may be requested.
fn is_way(options: &PeersOptions, name: &str) -> bool {
    let known = options.peers.iter().all(|asked| BUILT.iter().any(|other| begins_with(asked, other)));
    !known && matches!(name, "channels" | "os")
}

/// Makes names unique: two programs may use the same name for a way.
fn distinct_names(participants: &mut [Participant]) {
    let mut seen = vec!["sinew".to_owned(), "floor".to_owned()];
    for participant in participants {
        let Peer { peer, systems, .. } = &mut participant.peer;
        for system in systems {
            if seen.contains(&system.name) {
                system.name = format!("{peer}: {}", system.name);
            }
            seen.push(system.name.clone());
        }
    }
}

/// Returns the program of a peer: built, or the existing one beside this program.
fn built(name: &str, as_it_is: bool) -> Result<PathBuf> {
    let package = format!("peer-{name}");
    if as_it_is {
        let ours = std::env::current_exe()?;
        let program =
            ours.ancestors().skip(1).take(2).map(|place| place.join(&package)).find(|path| path.is_file());
        return program.with_context(|| format!("{package} isn't built, and --no-build was given"));
    }
    build(workspace(), &package)
}

/// Builds a program of a workspace, and returns its path.
///
/// # Errors
///
/// If it can't be built: the last lines of the reason.
pub fn build(workspace: &Path, package: &str) -> Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--message-format", "json-render-diagnostics", "-p", package])
        .current_dir(workspace)
        .stdin(Stdio::null())
        .output()
        .context("cargo can't be started")?;
    ensure!(
        output.status.success(),
        "it can't be built: {}",
        last_lines(&String::from_utf8_lossy(&output.stderr))
    );
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    };
    let output = String::from_utf8_lossy(&output.stdout);
    output.lines().rev().find_map(executable).with_context(|| format!("{package} has no program"))
}

/// Joins the last meaningful lines of a compiler's output.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let errors: Vec<_> = lines.iter().filter(|line| line.starts_with("error")).copied().collect();
    let from = if errors.is_empty() { &lines } else { &errors };
    from[from.len().saturating_sub(3)..].join("; ")
}

/// Asks a program for its description.
///
/// # Errors
///
/// If it has none.
pub fn describe(program: &Path, turns: &Turns) -> Result<Peer> {
    match turns.take(Command::new(program).arg("systems"), PATIENCE) {
        Turn::Said(said) => {
            serde_json::from_str(answer(&said)).context("its answer isn't what the protocol says")
        }
        Turn::Failed(reason) => anyhow::bail!("{reason}"),
        Turn::NoPart => anyhow::bail!("it says that this is not its business"),
        Turn::TooLong(limit) => anyhow::bail!("it gave no answer in {} s", limit.as_secs()),
        Turn::Asked => anyhow::bail!("the run was ended before it was asked"),
    }
}

fn adapter_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(ADAPTER).unwrap_or(&name).to_owned()
}

/// Finds the adapters in the directories of PATH; of those with the same name, the first.
fn adapters_in_path(path: &std::ffi::OsStr) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for directory in std::env::split_paths(path) {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut programs: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(ADAPTER)))
            .filter(|path| {
                path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
            })
            .collect();
        programs.sort();
        for program in programs {
            let name = adapter_name(&program);
            if found.iter().all(|(known, _)| *known != name) {
                found.push((name, program));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_programs_with_that_name() {
        let place = tempfile::tempdir().unwrap();
        for (name, mode) in [("sinew-peer-good", 0o755), ("sinew-peer-data", 0o644), ("peer", 0o755)] {
            let path = place.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let found = adapters_in_path(place.path().as_os_str());
        assert_eq!(found, [("good".to_owned(), place.path().join("sinew-peer-good"))]);
    }

    #[test]
    fn of_a_compilers_words_the_errors_are_kept() {
        assert_eq!(last_lines("Compiling\nerror: no protoc\nnote: install it\n"), "error: no protoc");
        assert_eq!(last_lines("a\n\nb\nc\nd\n"), "b; c; d");
    }
}
