//! Figures as text for people.

/// Formats a time in the most readable unit.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 999.5 => format!("{} ns", significant(ns)),
        ns if ns < 999_500.0 => format!("{} µs", significant(ns / 1e3)),
        ns if ns < 999_500_000.0 => format!("{} ms", significant(ns / 1e6)),
        ns => format!("{} s", significant(ns / 1e9)),
    }
}

/// Formats a size, which may be negative, in binary units.
pub fn bytes(count: f64) -> String {
    match count.abs() {
        size if size < 1024.0 => format!("{count:.0} B"),
        size if size < 1024.0 * 1024.0 => format!("{} KB", significant(count / 1024.0)),
        _ => format!("{} MB", significant(count / (1024.0 * 1024.0))),
    }
}

/// Formats a count.
pub(crate) fn count(value: f64) -> String {
    format!("{value:.0}")
}

/// Formats a factor.
pub(crate) fn factor(value: f64) -> String {
    format!("{value:.2}")
}

/// Formats a share of a core.
pub(crate) fn percent(value: f64) -> String {
    format!("{value:.1} %")
}

/// Formats a number with three significant digits if it is below 1000, with more if it is larger.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_read_well() {
        let times = [0.0, 8.64, 63.0, 999.6, 1234.0, 45_678.0, 1_500_000.0, 2e9].map(time);
        assert_eq!(
            times,
            ["0.00 ns", "8.64 ns", "63.0 ns", "1.00 µs", "1.23 µs", "45.7 µs", "1.50 ms", "2.00 s"]
        );
        let sizes = [64.0, 1024.0, -2048.0, 8.0 * 1024.0 * 1024.0].map(bytes);
        assert_eq!(sizes, ["64 B", "1.00 KB", "-2.00 KB", "8.00 MB"]);
    }
}
