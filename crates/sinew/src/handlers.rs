//! The `on_..` handlers that a publisher's and a subscription's builder collect.

use crate::delivery::observers::Observers;
use crate::event::{Gathered, IncompatibleQos, IncompatibleType, Joined, Matched, MessageLost, Source};
use crate::sync::Arc;

/// Handlers for what happens to one entity, as members of its group.
pub(crate) struct Handlers {
    /// Whose: "publisher on frames".
    pub(crate) whose: String,
    pub(crate) matched: Option<Joined<Matched>>,
    pub(crate) incompatible_qos: Option<Joined<IncompatibleQos>>,
    pub(crate) incompatible_type: Option<Joined<IncompatibleType>>,
    pub(crate) lost: Option<Joined<MessageLost>>,
    /// `in_group` came after a handler, which is in another group now.
    pub(crate) misplaced: bool,
}

impl Handlers {
    pub(crate) fn new(whose: String) -> Self {
        Self {
            whose,
            matched: None,
            incompatible_qos: None,
            incompatible_type: None,
            lost: None,
            misplaced: false,
        }
    }

    /// Notes that the group changes.
    pub(crate) fn in_group(&mut self) {
        self.misplaced |= self.matched.is_some()
            || self.incompatible_qos.is_some()
            || self.incompatible_type.is_some()
            || self.lost.is_some();
    }

    pub(crate) fn observers(&self) -> Observers {
        fn source<E: Gathered>(joined: Option<&Joined<E>>) -> Option<Arc<Source<E>>> {
            joined.map(|joined| joined.source().clone())
        }
        Observers::new(
            source(self.matched.as_ref()),
            source(self.incompatible_qos.as_ref()),
            source(self.incompatible_type.as_ref()),
        )
    }

    /// Takes the handlers out of their group.
    pub(crate) fn part(&self, wait: bool) {
        fn part<E: Gathered>(joined: Option<&Joined<E>>, wait: bool) {
            if let Some(joined) = joined {
                joined.part(wait);
            }
        }
        part(self.matched.as_ref(), wait);
        part(self.incompatible_qos.as_ref(), wait);
        part(self.incompatible_type.as_ref(), wait);
        part(self.lost.as_ref(), wait);
    }
}

/// The builder methods that publishers and subscriptions share.
macro_rules! handler_methods {
    () => {
        /// Called by the executor when somebody matched or went away. Takes nothing, `&Matched`, or the group's state and
        /// `&Matched`.
        pub fn on_matched<Form>(
            mut self,
            callback: impl crate::callback::EventCallback<crate::event::Matched, G, Form>,
        ) -> Self {
            let what = format!("matched event of {}", self.handlers.whose);
            let source = crate::event::Source::new(&self.group, what, callback);
            self.handlers.matched = Some(crate::event::Joined::new(source));
            self
        }

        /// Called by the executor when there is somebody on the topic whose QoS doesn't go with this one. Without a
        /// handler, that is logged as a warning.
        pub fn on_incompatible_qos<Form>(
            mut self,
            callback: impl crate::callback::EventCallback<crate::event::IncompatibleQos, G, Form>,
        ) -> Self {
            let what = format!("incompatible QoS event of {}", self.handlers.whose);
            let source = crate::event::Source::new(&self.group, what, callback);
            self.handlers.incompatible_qos = Some(crate::event::Joined::new(source));
            self
        }

        /// Called by the executor when there is somebody on the topic with another type. Without a handler, that is logged
        /// as a warning.
        pub fn on_incompatible_type<Form>(
            mut self,
            callback: impl crate::callback::EventCallback<crate::event::IncompatibleType, G, Form>,
        ) -> Self {
            let what = format!("incompatible type event of {}", self.handlers.whose);
            let source = crate::event::Source::new(&self.group, what, callback);
            self.handlers.incompatible_type = Some(crate::event::Joined::new(source));
            self
        }
    };
}
pub(crate) use handler_methods;
