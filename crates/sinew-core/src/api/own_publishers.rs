//! The publishers that a node makes by itself: of log lines, and of changes of its parameters.

use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;

/// A node's settings for its own publishers.
#[derive(Clone, Copy)]
pub(crate) struct OwnPublishers {
    /// Whether its log lines go to `/rosout`.
    pub(crate) has_rosout: bool,
    pub(crate) rosout_qos: QoS,
    pub(crate) parameter_event_qos: QoS,
}

impl Default for OwnPublishers {
    fn default() -> Self {
        Self { has_rosout: true, rosout_qos: QoS::rosout(), parameter_event_qos: QoS::parameter_events() }
    }
}

impl OwnPublishers {
    /// Returns the QoS of log lines on `/rosout`, if they go there.
    pub(crate) fn rosout(&self) -> Option<QoS> {
        self.has_rosout.then_some(self.rosout_qos)
    }

    /// Checks the QoS of each. They are made later, where no caller gets the error.
    pub(crate) fn validate(&self, has_events: bool) -> Result<(), CreateError> {
        let events = has_events.then_some(self.parameter_event_qos);
        for (topic, qos) in [("/rosout", self.rosout()), ("/parameter_events", events)] {
            if let Some(Err(problem)) = qos.map(|qos| qos.validate()) {
                return Err(CreateError::Qos { topic: topic.to_owned(), problem });
            }
        }
        Ok(())
    }
}
