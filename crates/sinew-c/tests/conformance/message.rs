//! Messages, which cross the border as bytes.

use std::ops::Deref;

pub(crate) use real::Message;

/// A message of its receiver's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unique<T> {
    message: T,
}

/// A message as a subscription without claims gets it.
pub(crate) type Shared<T> = Unique<T>;

impl<T> Unique<T> {
    pub(crate) fn new(message: T) -> Self {
        Self { message }
    }

    pub(crate) fn into_inner(self) -> T {
        self.message
    }
}

impl<T> Deref for Unique<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.message
    }
}

/// What can be published or asked.
pub(crate) trait Given<T> {
    fn message(&self) -> &T;
}

impl<T: Message> Given<T> for T {
    fn message(&self) -> &T {
        self
    }
}

impl<T: Message> Given<T> for &T {
    fn message(&self) -> &T {
        self
    }
}

impl<T: Message> Given<T> for Unique<T> {
    fn message(&self) -> &T {
        &self.message
    }
}

/// A message's bytes, as `front.h` has them.
pub(crate) fn encoded<T: Message>(message: &T) -> Vec<u8> {
    let encoding = T::ENCODING.expect("messages of scenarios have one");
    let mut bytes = vec![0; (encoding.size)(message)];
    (encoding.encode)(message, &mut bytes);
    bytes
}

pub(crate) fn decoded<T: Message>(bytes: &[u8]) -> T {
    (T::ENCODING.expect("messages of scenarios have one").decode)(bytes).expect("what was encoded")
}

/// The number of the type in `front.h`.
pub(crate) fn kind<T: Message>() -> i32 {
    match T::ENCODING.expect("messages of scenarios have one").name {
        "test_msgs/msg/Number" => 0,
        "test_msgs/msg/Text" => 1,
        other => panic!("the front ends don't know {other}"),
    }
}

/// About a message that was taken.
#[derive(Debug)]
pub(crate) struct MessageInfo {
    pub(crate) publisher: [u8; 16],
}

impl MessageInfo {
    pub(crate) fn publisher(&self) -> [u8; 16] {
        self.publisher
    }
}
