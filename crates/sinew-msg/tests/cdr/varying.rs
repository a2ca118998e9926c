//! Inconsistent manual implementations: they cause a panic, not a broken message.

use sinew_msg::cdr::{Decoder, Encoder, Fault};
use sinew_msg::loan::{self, BuildError, Built, Cutter, Found};
use sinew_msg::view::{self, Viewed, Views};
use sinew_msg::{Adapted, Adapter, Message};
use std::cell::Cell;

/// A text that counts its conversions.
#[derive(Message, Debug)]
struct Text {
    text: String,
}

std::thread_local! {
    static CONVERSIONS: Cell<usize> = const { Cell::new(0) };
}

/// The messages grow, or shrink, with each conversion.
enum Varying<const GROWS: bool> {}

impl<const GROWS: bool> Adapter for Varying<GROWS> {
    type Custom = ();
    type Ros = Text;

    fn to_ros((): &()) -> Text {
        let before = CONVERSIONS.replace(CONVERSIONS.get() + 1);
        Text { text: "x".repeat(if GROWS { 8 + before } else { 8 - before }) }
    }

    fn from_ros(_: Text) -> Result<(), &'static str> {
        Ok(())
    }
}

impl Viewed for Text {
    type View<'a> = view::Text<'a>;
    type Sequence<'a> = Views<'a, Self>;

    fn of(&self) -> view::Text<'_> {
        self.text.of()
    }

    fn sequence_of(values: &[Self]) -> Views<'_, Self> {
        Views::of(values)
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<view::Text<'a>, Fault> {
        String::view(decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

/// Announces fewer bytes than it writes.
impl Built for Text {
    type Lengths = ();
    type Parts<'a> = ();

    fn check((): &()) -> Result<(), BuildError> {
        Ok(())
    }

    fn end_with(&self, (): &(), at: usize) -> usize {
        at + 4
    }

    fn build_parts(&self, (): &(), encoder: &mut Encoder<'_>) -> Result<(), BuildError> {
        encoder.write(&[0; 8]);
        Ok(())
    }

    fn find_parts(_: &Self::View<'_>, found: Found) -> Found {
        found
    }

    fn cut_parts(_: &mut Cutter<'_>) -> Option<()> {
        Some(())
    }

    fn parts_of_value(&mut self) {}
}

fn encode<A: Adapter<Custom = ()>>() {
    let encoding = Adapted::<A>::ENCODING.expect("adapted types have one");
    let value = Adapted::<A>(());
    let mut encoded = vec![0; (encoding.size)(&value)];
    (encoding.encode)(&value, &mut encoded);
}

#[test]
#[should_panic(expected = "has another length than its buffer")]
fn an_adapter_s_message_that_has_become_shorter() {
    encode::<Varying<false>>();
}

#[test]
#[should_panic]
fn an_adapter_s_message_that_has_become_longer() {
    encode::<Varying<true>>();
}

#[test]
#[should_panic]
fn a_message_that_is_built_longer_than_it_said() {
    let text = Text { text: String::new() };
    let mut encoded = vec![0; loan::size(&text, &())];
    loan::build(&text, &(), &mut encoded).unwrap();
}
