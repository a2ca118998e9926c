//! What recording and playing have in common.

use std::collections::BTreeMap;
use std::fs;

use sinew::{Context, QoS};
use sinew_bag::read_qos_overrides;

use crate::cli::bag_session::SessionOptions;
use crate::error::Error;

/// Makes the context, and returns it with the domain's number. Signals are the caller's.
pub(super) fn context(options: &SessionOptions) -> Result<(Context, u32), Error> {
    let number = options.place.domain().map_err(Error::DomainNumber)?;
    let builder = Context::builder().domain(number).interrupts(false);
    let context = match &options.place.dir {
        Some(directory) => builder.directory(directory).build(),
        None => builder.build(),
    };
    Ok((context.map_err(sinew::Error::from)?, number))
}

/// Reads the QoS of topics, if a file is named.
pub(super) fn qos_overrides(options: &SessionOptions) -> Result<BTreeMap<String, QoS>, Error> {
    let Some(path) = &options.qos_profile_overrides_path else { return Ok(BTreeMap::new()) };
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        action: "read",
        path: path.clone(),
        source,
    })?;
    Ok(read_qos_overrides(&text, path)?)
}
