//! Round numbers for axes.

/// Returns about `count` round numbers from `low` to `high`, and the number of their decimals.
pub(crate) fn ticks(low: f64, high: f64, count: f64) -> (Vec<f64>, usize) {
    let rough = ((high - low) / count).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    // The margin is for sums that are rounded.
    let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0);
    let first = (low / step - 1e-9).ceil();
    let ticks = (0..=2 * whole(count)).map(|number| (first + number as f64) * step);
    (ticks.take_while(|tick| *tick <= high + step * 1e-9).collect(), whole(decimals))
}

/// Returns a number without its decimals; 0 if it is negative or none.
#[expect(clippy::cast_possible_truncation, reason = "that is its purpose; `as` has no undefined results")]
pub(crate) fn whole(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 10.0, 5.0), (vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0], 0));
        let (found, decimals) = ticks(-0.13, 0.31, 4.0);
        let texts: Vec<String> = found.iter().map(|tick| format!("{tick:.decimals$}")).collect();
        assert_eq!(texts, ["0.0", "0.2"]);
        let (found, decimals) = ticks(99.98, 100.02, 4.0);
        let texts: Vec<String> = found.iter().map(|tick| format!("{tick:.decimals$}")).collect();
        assert_eq!(texts, ["99.98", "99.99", "100.00", "100.01", "100.02"]);
    }
}
