//! The ids of gateways' sessions, which mark them as gateways.
//!
//! Every token contains the session's id, so the mark is known as soon as the endpoint itself, and
//! rmw_zenoh's format stays unchanged. It is a mark, not a proof: a session that copies it is only
//! matched more strictly.

use zenoh::config::ZenohId;

/// The last eight digits of the id of a gateway's session. The other digits are random, also the
/// first ones: the order of ids decides which of two peers connects.
const MARK: u32 = 0x51e0_0a7e;

/// Returns a new id for a gateway's session, in zenoh's notation.
///
/// ```
/// use sinew_zenoh::wire::session_id::{is_gateway, new};
/// assert!(is_gateway(&new()) && !is_gateway("8b20917502ee955ac4476e0266340d5c"));
/// ```
pub fn new() -> String {
    let random = u128::from_le_bytes(ZenohId::default().to_le_bytes());
    format!("{:x}", random & !u128::from(u32::MAX) | u128::from(MARK))
}

/// Returns `true` if the session belongs to a gateway of Sinew. A gateway with a configured id
/// isn't recognized.
pub fn is_gateway(session: &str) -> bool {
    u128::from_str_radix(session, 16).is_ok_and(|id| id & u128::from(u32::MAX) == u128::from(MARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_zenohs_and_differ() {
        let (one, other) = (new(), new());
        assert_ne!(one, other);
        for id in [one, other] {
            let mut config = zenoh::Config::default();
            config.insert_json5("id", &format!("{id:?}")).unwrap();
            assert_eq!(config.get_json("id").unwrap(), format!("{id:?}"));
            assert!(is_gateway(&id));
        }
        for other in ["", "zid", "1", "51e00a7f", "8b20917502ee955ac4476e0266340d5c", &"f".repeat(33)] {
            assert!(!is_gateway(other), "{other}");
        }
    }
}
