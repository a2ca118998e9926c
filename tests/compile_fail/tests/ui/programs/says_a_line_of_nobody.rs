fn main() {
    let volts = 11.7;
    sinew::info!("ready");
    sinew::warn!("battery at {} V", volts);
    sinew::error!();
    sinew::error!("battery",);
    sinew::warn_throttle!(std::time::Duration::from_secs(1), "battery at {volts} V");
}
