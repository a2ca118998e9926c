//! Measures every floor.

use super::{copy, direct, handover, line2, sleep, wake};
use crate::error::Error;
use crate::report::Settings;
use crate::sheet::{Sheet, Side};

/// The measured message sizes, in bytes.
pub(crate) const SIZES: [usize; 9] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20];

/// The rates of paced measurements, in Hz.
const RATES: [f64; 3] = [10.0, 100.0, 1000.0];

/// Measures every floor, a row each.
pub(crate) fn measure(sheet: &mut Sheet) -> Result<(), Error> {
    for rate in RATES {
        let case = Settings::new().with("rate", rate).with("relays", 10_u32);
        let side = Side::floor("direct", case, |time| direct::round(10, rate, time));
        sheet.measure(&format!("direct at {rate} Hz"), vec![side])?;
    }
    if let Some(cores) = sheet.two_cores("each of line2, handover and wake")? {
        two_processes(cores, sheet)?;
    }
    for size in SIZES {
        let mut warm = copy::Warm::new(size);
        let case = Settings::new().with("size", size).with("cache", "warm");
        sheet.measure(
            &format!("copy of {size} B"),
            vec![Side::floor("copy", case, |time| Ok(warm.round(time)))],
        )?;
    }
    let mut cold = copy::Cold::new(copy::COLD_SIZE);
    let case = Settings::new().with("size", copy::COLD_SIZE).with("cache", "cold");
    sheet.measure("copy of 8 MB, cold", vec![Side::floor("copy", case, |time| Ok(cold.round(time)))])?;
    drop(cold);
    let case = Settings::new().with("rate", 1000.0);
    sheet.measure("sleep at 1000 Hz", vec![Side::floor("sleep", case, |time| sleep::round(1000.0, time))])
}

fn two_processes(cores: (usize, usize), sheet: &mut Sheet) -> Result<(), Error> {
    let line2 = Side::floor("line2", Settings::new(), |time| line2::round(cores, time));
    sheet.measure("line2", vec![line2])?;
    for size in SIZES {
        let case = Settings::new().with("size", size);
        let side = Side::floor("handover", case, |time| handover::round(cores, size, time));
        sheet.measure(&format!("handover of {size} B"), vec![side])?;
    }
    for rate in [None].into_iter().chain(RATES.map(Some)) {
        let case = Settings::new().paced(rate);
        sheet.measure("wake", vec![Side::floor("wake", case, |time| wake::round(cores, rate, time))])?;
    }
    Ok(())
}
