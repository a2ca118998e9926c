//! The makers of actions: a node (in its default group) or a group.

use sinew::error::CreateError;
use sinew::introspection::{RegisteredType, TypeDescription};
use sinew::msg::TypeHash;
use sinew::time::Time;
use sinew::{Client, ReentrantGroup, Subscription};
use sinew::{
    Duration, Group, GuardCondition, Message, Node, Publisher, QoS, Responder, Server, Service, Timer,
};
use std::error::Error;

/// A [`Node`], a [`Group`] or a [`ReentrantGroup`]: the callbacks of an action run in its group.
pub trait Maker: sealed::Make {}

impl<M: sealed::Make> Maker for M {}

/// A callback's return value.
pub(crate) type CallbackResult = Result<(), Box<dyn Error + Send + Sync>>;

/// Makes the entities of an action. Listeners do the protocol work, so no callback of the group can
/// delay it; only the program's callbacks run in the group.
pub(crate) mod sealed {
    use super::*;

    pub trait Make: Clone + Send + Sync + 'static {
        #[doc(hidden)]
        fn time(&self) -> Time;

        #[doc(hidden)]
        fn publish<T: Message>(&self, topic: &str, qos: QoS) -> Result<Publisher<T>, CreateError>;

        #[doc(hidden)]
        fn subscribe<T: Message>(&self, topic: &str, qos: QoS) -> Result<Subscription<T>, CreateError>;

        #[doc(hidden)]
        fn call<S: Service>(&self, name: &str) -> Result<Client<S>, CreateError>;

        #[doc(hidden)]
        fn serve<S: Service>(
            &self,
            name: &str,
            most: usize,
            listener: impl Fn(S::Request, Responder<S>) + Send + Sync + 'static,
        ) -> Result<Server<S>, CreateError>;

        #[doc(hidden)]
        fn tick(
            &self,
            period: Duration,
            callback: impl Fn() + Send + Sync + 'static,
        ) -> Result<Timer, CreateError>;

        #[doc(hidden)]
        fn uses(&self, hash: TypeHash, describe: fn() -> Option<TypeDescription>) -> RegisteredType;

        #[doc(hidden)]
        fn bell(
            &self,
            what: String,
            callback: impl Fn() -> CallbackResult + Send + Sync + 'static,
        ) -> Result<GuardCondition, CreateError>;
    }
}

macro_rules! makers {
    ($([$($state:ident)?] $maker:ty;)*) => {$(
        impl$(<$state: Send + 'static>)? sealed::Make for $maker {
            fn time(&self) -> Time {
                self.now()
            }

            fn publish<T: Message>(&self, topic: &str, qos: QoS) -> Result<Publisher<T>, CreateError> {
                self.publisher(topic).qos(qos).create()
            }

            fn subscribe<T: Message>(&self, topic: &str, qos: QoS) -> Result<Subscription<T>, CreateError> {
                self.subscription(topic).qos(qos).create()
            }

            fn call<Q: Service>(&self, name: &str) -> Result<Client<Q>, CreateError> {
                self.client(name).create()
            }

            fn serve<Q: Service>(
                &self,
                name: &str,
                most: usize,
                listener: impl Fn(Q::Request, Responder<Q>) + Send + Sync + 'static,
            ) -> Result<Server<Q>, CreateError> {
                self.server::<Q>(name).max_requests(most).listener(move |request: Q::Request, responder: Responder<Q>| {
                    listener(request, responder);
                })
            }

            fn tick(
                &self,
                period: Duration,
                callback: impl Fn() + Send + Sync + 'static,
            ) -> Result<Timer, CreateError> {
                self.timer(period).clock(sinew::time::ClockKind::Ros).callback(move || callback())
            }

            fn uses(&self, hash: TypeHash, describe: fn() -> Option<TypeDescription>) -> RegisteredType {
                self.register_type(hash, describe)
            }

            fn bell(
                &self,
                what: String,
                callback: impl Fn() -> CallbackResult + Send + Sync + 'static,
            ) -> Result<GuardCondition, CreateError> {
                self.guard_condition().called(what).callback(move || callback())
            }
        }
    )*};
}

makers! {
    [] Node;
    [State] Group<State>;
    [] ReentrantGroup;
}
