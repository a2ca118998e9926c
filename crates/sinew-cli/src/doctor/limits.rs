//! Checks of the kernel, and of the limits of this user and process.

use std::fs;

use rustix::process::{Resource, getrlimit};

use super::finding::Finding;
use sinew_bench::units::bytes;

/// The oldest kernel with all required features.
const KERNEL: (u32, u32) = (5, 4);

/// Runs these checks.
pub(super) fn check() -> Vec<Finding> {
    let setting = |name: &str| {
        fs::read_to_string(format!("/proc/sys/{name}")).ok().and_then(|text| text.trim().parse::<u64>().ok())
    };
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let instance = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC);
    vec![
        kernel(&release),
        inotify_instances(setting("fs/inotify/max_user_instances"), instance.is_ok()),
        inotify_watches(setting("fs/inotify/max_user_watches")),
        open_files(getrlimit(Resource::Nofile).current),
        mappings(setting("vm/max_map_count")),
        locked_memory(getrlimit(Resource::Memlock).current),
    ]
}

fn kernel(release: &str) -> Finding {
    let check = "kernel";
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse::<u32>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < KERNEL => {
            Finding::wrong(check, release, format!("Linux {}.{} or newer is needed", KERNEL.0, KERNEL.1))
        }
        (Some(Ok(_)), Some(Ok(_))) => Finding::fine(check, release),
        _ => Finding::advice(
            check,
            format!("{release:?} is no release of Linux that is known"),
            "Linux 5.4 or newer is needed",
        ),
    }
}

fn inotify_instances(limit: Option<u64>, is_to_be_had: bool) -> Finding {
    let check = "inotify";
    let remedy = "sysctl -w fs.inotify.max_user_instances=1024";
    let found =
        limit.map_or_else(|| "limit unknown".to_owned(), |limit| format!("{limit} instances for each user"));
    if !is_to_be_had {
        let found = format!("{found}, and none is left: participants look for each other every 2 ms instead");
        Finding::wrong(check, found, remedy)
    } else if limit.is_some_and(|limit| limit < 128) {
        Finding::advice(check, format!("{found}; each participant takes one"), remedy)
    } else {
        Finding::fine(check, found)
    }
}

fn inotify_watches(limit: Option<u64>) -> Finding {
    let check = "inotify watches";
    match limit {
        Some(limit) if limit < 8192 => Finding::advice(
            check,
            format!("{limit} for each user; each participant takes one for each other one"),
            "sysctl -w fs.inotify.max_user_watches=65536",
        ),
        Some(limit) => Finding::fine(check, format!("{limit} for each user")),
        None => Finding::fine(check, "limit unknown"),
    }
}

fn open_files(limit: Option<u64>) -> Finding {
    let check = "open files";
    match limit {
        Some(limit) if limit < 1024 => Finding::advice(
            check,
            format!("{limit} for each process; a participant takes one for each of its segments"),
            "ulimit -n 4096 (or LimitNOFILE= of the systemd unit)",
        ),
        Some(limit) => Finding::fine(check, format!("{limit} for each process")),
        None => Finding::fine(check, "no limit"),
    }
}

fn mappings(limit: Option<u64>) -> Finding {
    let check = "mappings";
    match limit {
        Some(limit) if limit < 65_530 => Finding::advice(
            check,
            format!("{limit} for each process; a participant takes one for each segment that it reads"),
            "sysctl -w vm.max_map_count=65530",
        ),
        Some(limit) => Finding::fine(check, format!("{limit} for each process")),
        None => Finding::fine(check, "limit unknown"),
    }
}

fn locked_memory(limit: Option<u64>) -> Finding {
    let check = "locked memory";
    match limit {
        Some(limit) if limit < 64 << 20 => Finding::advice(
            check,
            format!(
                "{} for each process; programs that lock theirs (mlockall) need more",
                bytes(limit as f64)
            ),
            "ulimit -l unlimited (or LimitMEMLOCK=infinity of the systemd unit, --ulimit memlock=-1 of a container)",
        ),
        Some(limit) => Finding::fine(check, format!("{} for each process", bytes(limit as f64))),
        None => Finding::fine(check, "no limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State::{Advice, Fine, Wrong};
    use super::*;

    #[test]
    fn kernels() {
        let state = |release| kernel(release).state;
        assert_eq!((state("5.4.0-150-generic"), state("6.18.44-fc"), state("10.0-rc1")), (Fine, Fine, Fine));
        assert_eq!((state("5.3.18"), state("4.19.0-5-amd64"), state("Plan 9")), (Wrong, Wrong, Advice));
    }

    #[test]
    fn limits() {
        assert_eq!(
            (inotify_instances(Some(128), true).state, inotify_instances(None, false).state),
            (Fine, Wrong)
        );
        assert_eq!(
            (inotify_instances(Some(8), true).state, inotify_watches(Some(100)).state),
            (Advice, Advice)
        );
        assert_eq!((open_files(Some(256)).state, open_files(None).state), (Advice, Fine));
        assert_eq!((mappings(Some(1000)).state, mappings(Some(65_530)).state), (Advice, Fine));
        assert_eq!((locked_memory(Some(64 << 10)).state, locked_memory(None).state), (Advice, Fine));
    }
}
