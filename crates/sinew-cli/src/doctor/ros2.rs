//! Running programs of ROS 2: the middleware that each has loaded, and of which distribution it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::finding::Finding;

const CHECK: &str = "ROS 2";

/// Libraries named like a middleware that are only parts of one.
const PARTS: [&str; 4] = ["implementation", "dds_common", "fastrtps_shared_cpp", "security_common"];

/// Looks at the processes of this user; others' memory maps can't be read. No finding if there is
/// no program of ROS 2.
pub(super) fn check() -> Vec<Finding> {
    findings(Path::new("/proc"))
}

fn findings(processes: &Path) -> Vec<Finding> {
    let mut programs: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(processes).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if let Some(program) = Program::read(&entry.path()) {
            let named = format!("{} ({pid}, domain {})", program.name, program.domain);
            programs.entry((program.middleware, program.distribution)).or_default().push(named);
        }
    }
    programs
        .into_iter()
        .map(|((middleware, distribution), names)| finding(&middleware, &distribution, &names))
        .collect()
}

fn finding(middleware: &str, distribution: &str, programs: &[String]) -> Finding {
    let found = format!("rmw_{middleware} of {distribution}: {}", programs.join(", "));
    let remedy = match middleware {
        "sinew" => return Finding::fine(CHECK, found),
        "zenoh_cpp" => {
            "Sinew's nodes reach it by a gateway (sinew gateway); started with RMW_IMPLEMENTATION=rmw_sinew, it uses \
             shared memory"
        }
        _ => "it and Sinew's nodes don't see each other: start it with RMW_IMPLEMENTATION=rmw_sinew",
    };
    Finding::advice(CHECK, found, remedy)
}

/// A running program of ROS 2.
struct Program {
    name: String,
    middleware: String,
    distribution: String,
    domain: String,
}

impl Program {
    /// Reads it from the directory of a process; `None` if it has loaded no middleware, has ended,
    /// or belongs to another user.
    fn read(process: &Path) -> Option<Self> {
        let maps = fs::read_to_string(process.join("maps")).ok()?;
        let middleware = maps.lines().find_map(middleware_of)?.to_owned();
        let name = fs::read_to_string(process.join("comm")).ok()?.trim_end().to_owned();
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let variable = |name: &str| {
            let mut all = environment.split(|byte| *byte == 0);
            let value = all.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
        };
        let distribution = variable("ROS_DISTRO").unwrap_or_else(|| "an unknown distribution".to_owned());
        let domain = variable("ROS_DOMAIN_ID").unwrap_or_else(|| "0".to_owned());
        Some(Self { name, middleware, distribution, domain })
    }
}

/// Returns `x` if a line of a memory map names the library `librmw_x.so`, of any version.
fn middleware_of(line: &str) -> Option<&str> {
    let file = line.rsplit_once('/')?.1;
    let (name, _) = file.strip_prefix("librmw_")?.split_once(".so")?;
    (!PARTS.contains(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    fn process(processes: &Path, pid: &str, libraries: &[&str], environment: &[u8]) {
        let directory = processes.join(pid);
        fs::create_dir(&directory).unwrap();
        let line = |library: &&str| format!("7f00-7f01 r-xp 00000000 08:01 12 /opt/ros/lib/{library}\n");
        fs::write(directory.join("maps"), libraries.iter().map(line).collect::<String>()).unwrap();
        fs::write(directory.join("comm"), "talker\n").unwrap();
        fs::write(directory.join("environ"), environment).unwrap();
    }

    #[test]
    fn programs_are_grouped_by_their_middleware() {
        let processes = tempfile::tempdir().unwrap();
        let rmw = "librmw_implementation.so";
        process(
            processes.path(),
            "7",
            &[rmw, "librmw_sinew.so"],
            b"A=1\0ROS_DISTRO=jazzy\0ROS_DOMAIN_ID=5\0",
        );
        process(processes.path(), "8", &[rmw, "librmw_sinew.so.1"], b"ROS_DISTRO=jazzy\0");
        process(processes.path(), "9", &["librmw_dds_common.so", rmw, "librmw_cyclonedds_cpp.so"], b"");
        process(processes.path(), "10", &["libc.so.6"], b"ROS_DISTRO=jazzy\0");
        process(processes.path(), "self", &["librmw_sinew.so"], b"");
        let mut found = findings(processes.path());
        assert_eq!(found.len(), 2);
        let sinew = found.pop().unwrap();
        assert_eq!(sinew.state, State::Fine);
        assert!(sinew.found.starts_with("rmw_sinew of jazzy: "), "{}", sinew.found);
        assert!(sinew.found.contains("talker (7, domain 5)"), "{}", sinew.found);
        assert!(sinew.found.contains("talker (8, domain 0)"), "{}", sinew.found);
        let cyclone = found.pop().unwrap();
        assert_eq!(cyclone.state, State::Advice);
        assert_eq!(cyclone.found, "rmw_cyclonedds_cpp of an unknown distribution: talker (9, domain 0)");
        assert!(cyclone.remedy.contains("RMW_IMPLEMENTATION=rmw_sinew"));
    }
}
