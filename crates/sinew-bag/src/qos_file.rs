//! rosbag2's file of QoS to request or offer instead of the QoS that was found.

use crate::error::BagError;
use crate::qos_yaml::RecordedQos;
use crate::yaml::Yaml;
use sinew::QoS;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads rosbag2's file of QoS by topic (`--qos-profile-overrides-path`). A policy that isn't named
/// has the value of [`QoS::default`]. `path` is named in errors.
///
/// ```
/// use sinew::QoS;
/// use sinew_bag::read_qos_overrides;
///
/// let text = "/scan:\n  reliability: best_effort\n  history: keep_last\n  depth: 100\n";
/// let qos = read_qos_overrides(text, "qos.yaml".as_ref())?;
/// assert_eq!(qos["/scan"], QoS::default().best_effort().keep_last(100));
/// # Ok::<(), sinew_bag::BagError>(())
/// ```
///
/// # Errors
/// [`BagError::Metadata`] if the text is no map in YAML, or names a policy or value that there
/// isn't.
pub fn read_qos_overrides(text: &str, path: &Path) -> Result<BTreeMap<String, QoS>, BagError> {
    let problem = |problem: String| BagError::Metadata { path: path.to_owned(), problem };
    let yaml = Yaml::read(text).map_err(|(line, text)| problem(format!("line {line}: {text}")))?;
    let topics = yaml.entries().ok_or_else(|| problem("it is no map from topics to QoS".to_owned()))?;
    let mut all = BTreeMap::new();
    for (topic, policies) in topics {
        let policies = policies.entries().ok_or_else(|| problem(format!("the QoS of {topic} is no map")))?;
        let mut qos = RecordedQos::from(QoS::default());
        for (policy, value) in policies {
            qos.set(policy, value).ok_or_else(|| {
                let value = value.text().unwrap_or("a map or a list");
                problem(format!("{topic} can't have `{policy}: {value}`"))
            })?;
        }
        all.insert(topic.clone(), qos.qos());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn policies_change_the_default() {
        let text =
            "/a:\n  durability: transient_local\n  deadline: {sec: 1, nsec: 5}\n/b:\n  history: keep_all\n";
        let read = read_qos_overrides(text, "x".as_ref()).unwrap();
        let deadline = Duration::from_nanos(1_000_000_005);
        assert_eq!(read["/a"], QoS::default().transient_local().deadline(deadline));
        assert_eq!(read["/b"], QoS::default().keep_all());
    }

    #[test]
    fn wrong_words_are_named() {
        for (text, says) in [
            ("- a", "no map"),
            ("/a: b", "/a"),
            ("/a:\n  durability: eternal", "`durability: eternal`"),
            ("/a:\n  colour: red", "`colour: red`"),
            ("/a:\n  depth: []", "`depth: a map or a list`"),
        ] {
            let error = read_qos_overrides(text, "qos.yaml".as_ref()).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("qos.yaml"), "{error}");
        }
    }
}
