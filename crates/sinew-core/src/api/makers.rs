//! The builders of entities: methods of a group, and of a node for its default group.

use super::client::ClientBuilder;
use super::descriptor::DescriptorSourceBuilder;
use super::erased::Erased;
use super::erased::service::ServiceTypes;
use super::guard::GuardConditionBuilder;
use super::node::NodeCore;
use super::publisher::PublisherBuilder;
use super::server::ServerBuilder;
use super::subscription::SubscriptionBuilder;
use super::timer::TimerBuilder;
use super::type_descriptions::{RegisteredType, register};
use crate::executor::group::{Group, ReentrantGroup};
use crate::message::registered::MessageType;
use crate::sys::clock::{ClockKind, Time};
use sinew_msg::description::TypeDescription;
use sinew_msg::{Message, Service, TypeHash};
use std::os::fd::AsFd;
use std::time::Duration;

/// The methods that both kinds of groups have. (A trait would have to be imported.)
macro_rules! makers {
    () => {
        /// Returns the current time, as [`Node::now`](crate::Node::now).
        pub fn now(&self) -> Time {
            Time::from_nanoseconds(self.core.clock.now(ClockKind::Ros))
        }

        /// Returns a builder for a publisher of the group's node with event handlers that run in
        /// this group; otherwise as [`Node::publisher`](crate::Node::publisher).
        pub fn publisher<T: Message>(&self, topic: &str) -> PublisherBuilder<T, Self> {
            PublisherBuilder::new(self, topic)
        }

        /// Returns a builder for a subscription of the group's node with a callback and event
        /// handlers that run in this group; otherwise as
        /// [`Node::subscription`](crate::Node::subscription).
        pub fn subscription<T: Message>(&self, topic: &str) -> SubscriptionBuilder<T, Self> {
            SubscriptionBuilder::new(self, topic)
        }

        /// Returns a builder for a publisher of messages of any type with event handlers that run
        /// in this group; otherwise as [`Node::erased_publisher`](crate::Node::erased_publisher).
        pub fn erased_publisher(&self, topic: &str, of: MessageType) -> PublisherBuilder<Erased, Self> {
            PublisherBuilder::of_type(self, topic, of.table())
        }

        /// Returns a builder for a subscription to messages of any type with a callback and event
        /// handlers that run in this group; otherwise as
        /// [`Node::erased_subscription`](crate::Node::erased_subscription).
        pub fn erased_subscription(&self, topic: &str, of: MessageType) -> SubscriptionBuilder<Erased, Self> {
            SubscriptionBuilder::of_message_type(self, topic, of)
        }

        /// Returns a builder for a server of the group's node with a callback that runs in this
        /// group; otherwise as [`Node::server`](crate::Node::server).
        pub fn server<S: Service>(&self, name: &str) -> ServerBuilder<S, Self> {
            ServerBuilder::new(self, name)
        }

        /// Returns a builder for a client of the group's node; callbacks for its results run in
        /// this group. Otherwise as [`Node::client`](crate::Node::client).
        pub fn client<S: Service>(&self, name: &str) -> ClientBuilder<S, Self> {
            ClientBuilder::new(self, name)
        }

        /// Returns a builder for a server of a service of any types with a callback that runs in
        /// this group; otherwise as [`Node::erased_server`](crate::Node::erased_server).
        pub fn erased_server(&self, name: &str, types: ServiceTypes) -> ServerBuilder<Erased, Self> {
            ServerBuilder::of_types(self, name, types.inner())
        }

        /// Returns a builder for a client of a service of any types; callbacks for its results run
        /// in this group. Otherwise as [`Node::erased_client`](crate::Node::erased_client).
        pub fn erased_client(&self, name: &str, types: ServiceTypes) -> ClientBuilder<Erased, Self> {
            ClientBuilder::of_types(self, name, types.inner())
        }

        /// Returns a builder for a timer of the group's node with a callback that runs in this
        /// group; otherwise as [`Node::timer`](crate::Node::timer).
        pub fn timer(&self, period: Duration) -> TimerBuilder<Self> {
            TimerBuilder::new(self, period)
        }

        /// Returns a builder for a timer by steady time, otherwise as [`timer`](Self::timer); see
        /// [`Node::wall_timer`](crate::Node::wall_timer).
        pub fn wall_timer(&self, period: Duration) -> TimerBuilder<Self> {
            self.timer(period).clock(crate::sys::clock::ClockKind::Steady)
        }

        /// Returns a builder for a guard condition of the group's node with a callback that runs in
        /// this group; otherwise as [`Node::guard_condition`](crate::Node::guard_condition).
        pub fn guard_condition(&self) -> GuardConditionBuilder<Self> {
            GuardConditionBuilder::new(self)
        }

        /// Adds a type to those that the group's node describes, as
        /// [`Node::register_type`](crate::Node::register_type).
        pub fn register_type(
            &self,
            hash: TypeHash,
            describe: fn() -> Option<TypeDescription>,
        ) -> RegisteredType {
            register(&NodeCore::of(&self.core), (hash, describe))
        }

        /// Returns a builder for a descriptor source of the group's node with a callback that runs
        /// in this group; otherwise as [`Node::descriptor`](crate::Node::descriptor).
        pub fn descriptor(&self, descriptor: &impl AsFd) -> DescriptorSourceBuilder<Self> {
            DescriptorSourceBuilder::new(self, descriptor)
        }
    };
}

impl<State: Send + 'static> Group<State> {
    makers!();
}

impl ReentrantGroup {
    makers!();
}
