/// The messages of `text_msgs`.
#[allow(
    dead_code,
    unreachable_pub,
    non_camel_case_types,
    unused_qualifications,
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    reason = "generated from the definitions of text_msgs"
)]
pub mod msg {
    use ::sinew_msg::__private::{self as sinew, cdr, view};

    /// `text_msgs/msg/Note`
    ///
    /// Nothing in this package is plain, so that its code can be in a crate that forbids unsafe code.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Note {
        /// `string`
        pub text: String,
        /// `uint8[]`
        pub attachment: Vec<u8>,
        /// `bool`
        pub read: bool,
    }

    impl sinew::Message for Note {
        const ENCODING: Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Note> = cdr::encoding::<Note>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Note {
        const NAME: &'static str = "text_msgs/msg/Note";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_e6790e389436da8ae0f1a5fe2dea9a8fb7b0d3f93b1d3cf8327cd0608ba3c83c",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "text_msgs/msg/Note",
                fields: &[
                    ("text", <String as cdr::Field>::TYPE),
                    ("attachment", <Vec<u8> as cdr::Field>::TYPE),
                    ("read", <bool as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Note {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 9;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.text, at);
            let at = cdr::Field::end(&self.attachment, at);
            let at = cdr::aligned(at, 1) + 1;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.text, encoder);
            cdr::Field::encode(&self.attachment, encoder);
            let mut run = encoder.run::<1>(1);
            run.put_bools(0, &[self.read]);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> Result<(), cdr::Fault> {
            const NAME: &str = "text_msgs/msg/Note";
            cdr::decode_field(&mut self.text, decoder, NAME, "text")?;
            cdr::decode_field(&mut self.attachment, decoder, NAME, "attachment")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "read")])?;
            self.read = run.bool(0)?;
            Ok(())
        }
    }

    /// [`Note`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct NoteView<'a> {
        /// See [`Note::text`].
        pub text: view::Text<'a>,
        /// See [`Note::attachment`].
        pub attachment: &'a [u8],
        /// See [`Note::read`].
        pub read: bool,
    }

    impl view::Viewed for Note {
        type View<'a> = NoteView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> NoteView<'_> {
            NoteView {
                text: view::Viewed::of(&self.text),
                attachment: view::Viewed::of(&self.attachment),
                read: self.read,
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> Result<NoteView<'a>, cdr::Fault> {
            const NAME: &str = "text_msgs/msg/Note";
            let text = view::field::<String>(decoder, NAME, "text")?;
            let attachment = view::field::<Vec<u8>>(decoder, NAME, "attachment")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "read")])?;
            let read = run.bool(0)?;
            Ok(NoteView {
                text,
                attachment,
                read,
            })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`Note`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct NoteLengths {
        /// Of [`Note::attachment`].
        pub attachment: usize,
    }

    /// Of a [`Note`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct NoteParts<'a> {
        /// See [`Note::attachment`].
        pub attachment: &'a mut [u8],
    }

    impl sinew::loan::Built for Note {
        type Lengths = NoteLengths;
        type Parts<'a> = NoteParts<'a>;

        fn check(lengths: &NoteLengths) -> Result<(), sinew::loan::BuildError> {
            const NAME: &str = "text_msgs/msg/Note";
            sinew::loan::check::<4294967295>(lengths.attachment, NAME, "attachment")?;
            Ok(())
        }

        fn end_with(&self, lengths: &NoteLengths, at: usize) -> usize {
            let at = cdr::Field::end(&self.text, at);
            let at = sinew::loan::end::<u8>(lengths.attachment, at);
            let at = cdr::aligned(at, 1) + 1;
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &NoteLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> Result<NoteParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "text_msgs/msg/Note";
            cdr::Field::encode(&self.text, encoder);
            let attachment = sinew::loan::leave::<_, 4294967295>(
                encoder,
                lengths.attachment,
                NAME,
                "attachment",
            )?;
            let mut run = encoder.run::<1>(1);
            run.put_bools(0, &[self.read]);
            Ok(NoteParts { attachment })
        }

        fn find_parts(view: &NoteView<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = found.sequence(&view.attachment);
            found
        }

        fn cut_parts<'a>(cutter: &mut sinew::loan::Cutter<'a>) -> Option<NoteParts<'a>> {
            let attachment = cutter.sequence()?;
            Some(NoteParts { attachment })
        }

        fn parts_of_value(&mut self) -> NoteParts<'_> {
            NoteParts {
                attachment: sinew::loan::part(&mut self.attachment),
            }
        }
    }
}
