//! The messages between a client and a server: ROS 2's five entities, their names and types.
//!
//! ROS 2's generated types of an action (`Fibonacci_SendGoal` and so on) wrap a goal, a result or
//! feedback. The types here have the same encoded form, names and hashes, but are generic over all
//! actions, and refer to a result by a shared handle: the server's cache and every client of its
//! process have the same one.

use crate::goal_id::GoalId;
use sinew::introspection::TypeDescription;
use sinew::msg::cdr::description::{ConstDescription, ConstFieldType};
use sinew::msg::cdr::{Decoder, Encoder, Fault, Field, Structure};
use sinew::msg::{Action, Encoding, cdr};
use sinew::service::ServiceType;
use sinew::time::Time;
use sinew::{Message, QoS, Service, Shared};
use sinew_interfaces::builtin_interfaces::msg::Time as TimeMessage;
use std::fmt;
use std::marker::PhantomData;

/// The names of an action's five entities. A remapping rule for the action's name changes all of
/// them; each can also be remapped on its own, as in ROS 2.
pub(crate) struct Names {
    pub(crate) send_goal: String,
    pub(crate) cancel_goal: String,
    pub(crate) get_result: String,
    pub(crate) feedback: String,
    pub(crate) status: String,
}

impl Names {
    pub(crate) fn of(action: &str) -> Self {
        let name = |entity: &str| format!("{action}/_action/{entity}");
        Self {
            send_goal: name("send_goal"),
            cancel_goal: name("cancel_goal"),
            get_result: name("get_result"),
            feedback: name("feedback"),
            status: name("status"),
        }
    }

    /// Returns the action's name for the name of its status topic.
    pub(crate) fn action_of(status: &str) -> &str {
        status.strip_suffix("/_action/status").unwrap_or(status)
    }
}

/// Describes the action type: its generated parts together. Returns `None` if one of them can't be
/// described, or if the action has the hash of another type.
pub(crate) fn describe<A: Action>() -> Option<TypeDescription> {
    let of = |description: &'static ConstDescription| description.describe();
    let [goal, result, feedback, message] = [
        of(A::Goal::DESCRIPTION)?,
        of(A::Result::DESCRIPTION)?,
        of(A::Feedback::DESCRIPTION)?,
        of(A::FeedbackMessage::DESCRIPTION)?,
    ];
    let send_goal = describe_service::<A::SendGoal>()?;
    let get_result = describe_service::<A::GetResult>()?;
    let parts = [&goal, &result, &feedback, &send_goal, &get_result, &message];
    let description = TypeDescription::of_action(A::NAME, parts);
    (description.hash() == A::HASH).then_some(description)
}

fn describe_service<S: Service<Request: Structure, Response: Structure>>() -> Option<TypeDescription> {
    let (request, response) = (S::Request::DESCRIPTION.describe()?, S::Response::DESCRIPTION.describe()?);
    Some(TypeDescription::of_service(S::TYPE?.name, &request, &response))
}

/// Returns the QoS of status arrays. ROS 2: `rcl_action_qos_profile_status_default`.
pub(crate) fn status_qos() -> QoS {
    QoS::new().keep_last(1).reliable().transient_local()
}

/// The service that accepts goals.
pub struct SendGoal<A>(PhantomData<fn(A)>);

impl<A: Action> Service for SendGoal<A> {
    type Request = SendGoalRequest<A>;
    type Response = SendGoalResponse<A>;
    const TYPE: Option<&'static ServiceType> = A::SendGoal::TYPE;
}

/// The service that returns results.
pub struct GetResult<A>(PhantomData<fn(A)>);

impl<A: Action> Service for GetResult<A> {
    type Request = GetResultRequest<A>;
    type Response = GetResultResponse<A>;
    const TYPE: Option<&'static ServiceType> = A::GetResult::TYPE;
}

pub struct SendGoalRequest<A: Action> {
    pub(crate) goal_id: GoalId,
    pub(crate) goal: A::Goal,
}

pub struct SendGoalResponse<A> {
    pub(crate) accepted: bool,
    pub(crate) stamp: Time,
    pub(crate) of: PhantomData<fn(A)>,
}

pub struct GetResultRequest<A> {
    pub(crate) goal_id: GoalId,
    pub(crate) of: PhantomData<fn(A)>,
}

pub struct GetResultResponse<A: Action> {
    /// The number as it was sent; the reader validates it.
    pub(crate) status: i8,
    pub(crate) result: Shared<A::Result>,
}

/// Feedback as it is sent on its topic: with the id of its goal, since all clients of the action
/// receive it.
pub struct FeedbackMessage<A: Action> {
    /// The goal's id.
    pub goal_id: GoalId,
    /// The feedback itself.
    pub feedback: A::Feedback,
}

impl<A: Action<Feedback: fmt::Debug>> fmt::Debug for FeedbackMessage<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedbackMessage")
            .field("goal_id", &self.goal_id)
            .field("feedback", &self.feedback)
            .finish()
    }
}

/// Implements the traits of a struct that stands for a generated one: its fields in order in CDR,
/// and the description of that type.
macro_rules! stands_for {
    ($name:ident, $generated:ty, $($field:ident: $wire:ty, $to:expr, $from:expr;)*) => {
        impl<A: Action> Message for $name<A> {
            const ENCODING: Option<&'static Encoding<Self>> = Some(&cdr::encoding::<Self>());
        }

        impl<A: Action> Structure for $name<A> {
            const NAME: &'static str = <$generated as Structure>::NAME;
            const DESCRIPTION: &'static ConstDescription = <$generated as Structure>::DESCRIPTION;
            const HASH: sinew::msg::TypeHash = <$generated as Structure>::HASH;
        }

        impl<A: Action> Field for $name<A> {
            const TYPE: ConstFieldType = <$generated as Field>::TYPE;
            const ALIGNMENT: usize = <$generated as Field>::ALIGNMENT;
            const LEAST: usize = <$generated as Field>::LEAST;

            fn end(&self, at: usize) -> usize {
                $(let at = $to(&self.$field, |field: &$wire| field.end(at));)*
                at
            }

            fn encode(&self, encoder: &mut Encoder<'_>) {
                $($to(&self.$field, |field: &$wire| field.encode(encoder));)*
            }

            fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
                $(let $field = $from(<$wire>::decode(decoder)?);)*
                Ok(stands_for!(@make $name $($field)*))
            }
        }
    };
    (@make SendGoalResponse $($field:ident)*) => { SendGoalResponse { $($field,)* of: PhantomData } };
    (@make GetResultRequest $($field:ident)*) => { GetResultRequest { $($field,)* of: PhantomData } };
    (@make $name:ident $($field:ident)*) => { $name { $($field),* } };
}

fn bytes<R>(id: &GoalId, with: impl FnOnce(&[u8; 16]) -> R) -> R {
    with(&id.0)
}

fn plainly<T, R>(value: &T, with: impl FnOnce(&T) -> R) -> R {
    with(value)
}

fn stamp<R>(time: &Time, with: impl FnOnce(&TimeMessage) -> R) -> R {
    with(&time.to_msg())
}

fn referred<T: Message, R>(value: &Shared<T>, with: impl FnOnce(&T) -> R) -> R {
    with(value)
}

stands_for!(SendGoalRequest, <A::SendGoal as Service>::Request,
    goal_id: [u8; 16], bytes, GoalId; goal: A::Goal, plainly, std::convert::identity;);
stands_for!(SendGoalResponse, <A::SendGoal as Service>::Response,
    accepted: bool, plainly, std::convert::identity; stamp: TimeMessage, stamp, Time::from;);
stands_for!(GetResultRequest, <A::GetResult as Service>::Request, goal_id: [u8; 16], bytes, GoalId;);
stands_for!(GetResultResponse, <A::GetResult as Service>::Response,
    status: i8, plainly, std::convert::identity; result: A::Result, referred, Shared::new;);
stands_for!(FeedbackMessage, A::FeedbackMessage,
    goal_id: [u8; 16], bytes, GoalId; feedback: A::Feedback, plainly, std::convert::identity;);

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_interfaces::example_interfaces::action as generated;
    use sinew_interfaces::example_interfaces::action::Fibonacci;
    use sinew_interfaces::unique_identifier_msgs::msg::UUID;

    fn encoded<T: Message>(value: &T) -> Vec<u8> {
        let encoding = T::ENCODING.unwrap();
        let mut encoded = vec![0; (encoding.size)(value)];
        (encoding.encode)(value, &mut encoded);
        encoded
    }

    fn read<T: Message>(encoded: &[u8]) -> T {
        (T::ENCODING.unwrap().decode)(encoded).unwrap()
    }

    /// Name, hash and encoded form are those of the generated type, and decoding restores the
    /// value.
    fn same<Ours: Message, Theirs: Message + PartialEq + std::fmt::Debug>(ours: &Ours, theirs: &Theirs) {
        let (mine, other) = (Ours::ENCODING.unwrap(), Theirs::ENCODING.unwrap());
        assert_eq!((mine.name, mine.hash), (other.name, other.hash));
        assert_eq!(encoded(ours), encoded(theirs));
        assert_eq!(encoded(&read::<Ours>(&encoded(theirs))), encoded(theirs));
        assert_eq!(&read::<Theirs>(&encoded(ours)), theirs);
    }

    #[test]
    fn they_are_the_generated_types_on_the_wire() {
        let (id, uuid) = (GoalId([7; 16]), UUID { uuid: [7; 16] });
        let time = Time::from_nanoseconds(5_000_000_007);
        same(
            &SendGoalRequest::<Fibonacci> { goal_id: id, goal: generated::FibonacciGoal { order: 9 } },
            &generated::FibonacciSendGoalRequest {
                goal_id: uuid,
                goal: generated::FibonacciGoal { order: 9 },
            },
        );
        same(
            &SendGoalResponse::<Fibonacci> { accepted: true, stamp: time, of: PhantomData },
            &generated::FibonacciSendGoalResponse { accepted: true, stamp: time.to_msg() },
        );
        same(
            &GetResultRequest::<Fibonacci> { goal_id: id, of: PhantomData },
            &generated::FibonacciGetResultRequest { goal_id: uuid },
        );
        let result = generated::FibonacciResult { sequence: vec![1, 2, 3] };
        same(
            &GetResultResponse::<Fibonacci> { status: 4, result: Shared::new(result.clone()) },
            &generated::FibonacciGetResultResponse { status: 4, result },
        );
        let feedback = generated::FibonacciFeedback { sequence: vec![1, 2] };
        same(
            &FeedbackMessage::<Fibonacci> { goal_id: id, feedback: feedback.clone() },
            &generated::FibonacciFeedbackMessage { goal_id: uuid, feedback },
        );
    }
}
