//! The makers of actions: a node (in its default group) or a group.

use sinew::error::{CreateError, PostError};
use sinew::executor::{CallbackGroup, WorkQueue};
use sinew::introspection::{RegisteredType, TypeDescription};
use sinew::msg::TypeHash;
use sinew::time::Time;
use sinew::{Client, ReentrantGroup, Subscription};
use sinew::{Duration, Group, Message, Node, Publisher, QoS, Responder, Server, Service, Timer};
use std::error::Error;
use std::sync::Arc;

/// A [`Node`], a [`Group`] or a [`ReentrantGroup`]: the callbacks of an action run in its group.
pub trait Maker: sealed::Make {}

impl<M: sealed::Make> Maker for M {}

/// Passes work to a callback group.
pub(crate) type Poster<T> = Arc<dyn Fn(T) -> Result<(), PostError> + Send + Sync>;

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

        /// The group in which callbacks run.
        type Group: CallbackGroup;

        #[doc(hidden)]
        fn work_queue(&self, name: &str) -> WorkQueue<Self::Group>;

        /// Makes the group call `handle` for each piece that is posted.
        #[doc(hidden)]
        fn poster<T: Send + 'static>(
            &self,
            name: &str,
            handle: impl Fn(T) -> CallbackResult + Send + Sync + 'static,
        ) -> Poster<T>;
    }
}

macro_rules! makers {
    ($([$($state:ident)?] $maker:ty, $group:ty;)*) => {$(
        impl$(<$state: Send + 'static>)? sealed::Make for $maker {
            type Group = $group;

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
                self.server::<Q>(name).max_requests(most).immediate_callback(move |request: Q::Request, responder: Responder<Q>| {
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

            fn work_queue(&self, name: &str) -> WorkQueue<$group> {
                self.work_queue(name)
            }

            fn poster<T: Send + 'static>(
                &self,
                name: &str,
                handle: impl Fn(T) -> CallbackResult + Send + Sync + 'static,
            ) -> Poster<T> {
                let (queue, handle) = (self.work_queue(name), Arc::new(handle));
                Arc::new(move |piece| {
                    let handle = handle.clone();
                    queue.post(move || handle(piece))
                })
            }
        }
    )*};
}

makers! {
    [] Node, Group;
    [State] Group<State>, Self;
    [] ReentrantGroup, Self;
}
