//! Rates as short texts.

/// Returns "10 Hz"; an empty text if nothing was sent.
pub(super) fn rate(hz: f64) -> String {
    match hz {
        hz if hz < 0.05 => String::new(),
        hz if hz < 9.95 => format!("{hz:.1} Hz"),
        hz if hz < 9_999.5 => format!("{hz:.0} Hz"),
        hz => format!("{:.0} kHz", hz / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        let told = [0.0, 0.5, 29.97, 1234.5, 250_000.0].map(rate);
        assert_eq!(told, ["", "0.5 Hz", "30 Hz", "1234 Hz", "250 kHz"]);
    }
}
