/// The messages of `arm_msgs`.
#[allow(
    dead_code,
    unreachable_pub,
    unsafe_code,
    non_camel_case_types,
    unused_qualifications,
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    reason = "generated from the definitions of arm_msgs"
)]
pub mod msg {
    use ::sinew_msg::__private::{self as sinew, cdr, view};

    /// `arm_msgs/msg/ANameThatIsAsLongAsNamesEverAre`
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(C)]
    pub struct ANameThatIsAsLongAsNamesEverAre {
        /// `uint8`
        pub a_name_of_a_number_that_is_as_long_as_names_are: u8,
        /// `uint8`
        pub b: u8,
        /// `uint8`
        pub a_second_name_of_a_number: u8,
        /// `uint8[5]`
        pub a_third_name_of_a_number: [u8; 5],
    }

    impl sinew::Message for ANameThatIsAsLongAsNamesEverAre {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<ANameThatIsAsLongAsNamesEverAre> =
                cdr::plain_encoding::<ANameThatIsAsLongAsNamesEverAre>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for ANameThatIsAsLongAsNamesEverAre {
        const NAME: &'static str = "arm_msgs/msg/ANameThatIsAsLongAsNamesEverAre";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_47935ff1ba1fbe77b0cd52cf987152c776c018bd3749c7e5ead9115b104f9f60",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/ANameThatIsAsLongAsNamesEverAre",
                fields: &[
                    (
                        "a_name_of_a_number_that_is_as_long_as_names_are",
                        <u8 as cdr::Field>::TYPE,
                    ),
                    ("b", <u8 as cdr::Field>::TYPE),
                    ("a_second_name_of_a_number", <u8 as cdr::Field>::TYPE),
                    ("a_third_name_of_a_number", <[u8; 5] as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for ANameThatIsAsLongAsNamesEverAre {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 1;
        const LEAST: usize = 8;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::aligned(at, 1) + 8;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            let mut run = encoder.run::<8>(1);
            run.put(0, &self.a_name_of_a_number_that_is_as_long_as_names_are);
            run.put(1, &self.b);
            run.put(2, &self.a_second_name_of_a_number);
            run.put(3, &self.a_third_name_of_a_number);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/ANameThatIsAsLongAsNamesEverAre";
            let run = decoder.run::<8>(
                1,
                NAME,
                &[
                    (1, "a_name_of_a_number_that_is_as_long_as_names_are"),
                    (2, "b"),
                    (3, "a_second_name_of_a_number"),
                    (8, "a_third_name_of_a_number"),
                ],
            )?;
            run.copy(0, &mut self.a_name_of_a_number_that_is_as_long_as_names_are);
            run.copy(1, &mut self.b);
            run.copy(2, &mut self.a_second_name_of_a_number);
            run.copy(3, &mut self.a_third_name_of_a_number);
            Ok(())
        }

        sinew::plain_slices!();
    }

    const _: () = {
        const fn needs_plain<T: sinew::Plain>() {}
        use ::core::mem::offset_of;
        assert!(size_of::<ANameThatIsAsLongAsNamesEverAre>() == 8);
        assert!(align_of::<ANameThatIsAsLongAsNamesEverAre>() == 1);
        needs_plain::<u8>();
        assert!(
            offset_of!(
                ANameThatIsAsLongAsNamesEverAre,
                a_name_of_a_number_that_is_as_long_as_names_are,
            ) == 0
        );
        needs_plain::<u8>();
        assert!(offset_of!(ANameThatIsAsLongAsNamesEverAre, b) == 1);
        needs_plain::<u8>();
        assert!(offset_of!(ANameThatIsAsLongAsNamesEverAre, a_second_name_of_a_number) == 2);
        needs_plain::<[u8; 5]>();
        assert!(offset_of!(ANameThatIsAsLongAsNamesEverAre, a_third_name_of_a_number) == 3);
    };

    // SAFETY: the constant above does not compile unless all fields are plain, so all zeros
    // are a value.
    unsafe impl sinew::bytemuck::Zeroable for ANameThatIsAsLongAsNamesEverAre {}

    // SAFETY: as above, all fields are plain, and each begins where the one before ends, as
    // does the struct's end: there is no padding.
    unsafe impl sinew::bytemuck::Pod for ANameThatIsAsLongAsNamesEverAre {}

    // SAFETY: as above. In encoded bytes that begin at a multiple of the struct's alignment
    // each field lies at a multiple of its own, where CDR needs no padding either.
    unsafe impl sinew::Plain for ANameThatIsAsLongAsNamesEverAre {}

    impl view::Viewed for ANameThatIsAsLongAsNamesEverAre {
        type View<'a> = Self;
        type Sequence<'a> = ::std::borrow::Cow<'a, [Self]>;

        #[inline]
        fn of(&self) -> Self {
            *self
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> ::std::borrow::Cow<'_, [Self]> {
            ::std::borrow::Cow::Borrowed(values)
        }

        fn view(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            cdr::Field::decode(decoder)
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<::std::borrow::Cow<'a, [Self]>, cdr::Fault> {
            view::slice(count, decoder)
        }
    }

    /// `arm_msgs/msg/Default`
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Default {
        /// `int32`
        pub at: i32,
        /// `float64`
        pub after: f64,
        /// `bool`
        pub flag: bool,
    }

    impl sinew::Message for Default {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Default> = cdr::encoding::<Default>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Default {
        const NAME: &'static str = "arm_msgs/msg/Default";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_7dc77717f44035e2a598eb521d80549dc14c299bea88ec820b1700a78d3579c7",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Default",
                fields: &[
                    ("at", <i32 as cdr::Field>::TYPE),
                    ("after", <f64 as cdr::Field>::TYPE),
                    ("flag", <bool as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Default {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 13;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::aligned(at, 4) + 4;
            let at = cdr::aligned(at, 8) + 9;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            let mut run = encoder.run::<4>(4);
            run.put(0, &self.at);
            let mut run = encoder.run::<9>(8);
            run.put(0, &self.after);
            run.put_bools(8, &[self.flag]);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Default";
            let run = decoder.run::<4>(4, NAME, &[(4, "at")])?;
            run.copy(0, &mut self.at);
            let run = decoder.run::<9>(8, NAME, &[(8, "after"), (9, "flag")])?;
            run.copy(0, &mut self.after);
            self.flag = run.bool(8)?;
            Ok(())
        }
    }

    impl view::Viewed for Default {
        type View<'a> = Self;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> Self {
            ::core::clone::Clone::clone(self)
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            cdr::Field::decode(decoder)
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// `arm_msgs/msg/Few`
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Few {
        /// `uint8[]`
        pub a: ::std::vec::Vec<u8>,
        /// `bool`
        pub b: bool,
    }

    impl sinew::Message for Few {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Few> = cdr::encoding::<Few>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Few {
        const NAME: &'static str = "arm_msgs/msg/Few";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_56bf2083e16893b730e8802c414cdbdefed746a9897c17c10f59b7426fb793e2",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Few",
                fields: &[
                    ("a", <::std::vec::Vec<u8> as cdr::Field>::TYPE),
                    ("b", <bool as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Few {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 5;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.a, at);
            let at = cdr::aligned(at, 1) + 1;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.a, encoder);
            let mut run = encoder.run::<1>(1);
            run.put_bools(0, &[self.b]);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Few";
            cdr::decode_field(&mut self.a, decoder, NAME, "a")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "b")])?;
            self.b = run.bool(0)?;
            Ok(())
        }
    }

    /// [`Few`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct FewView<'a> {
        /// See [`Few::a`].
        pub a: &'a [u8],
        /// See [`Few::b`].
        pub b: bool,
    }

    impl view::Viewed for Few {
        type View<'a> = FewView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> FewView<'_> {
            FewView {
                a: view::Viewed::of(&self.a),
                b: self.b,
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<FewView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Few";
            let a = view::field::<::std::vec::Vec<u8>>(decoder, NAME, "a")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "b")])?;
            let b = run.bool(0)?;
            Ok(FewView { a, b })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`Few`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FewLengths {
        /// Of [`Few::a`].
        pub a: usize,
    }

    /// Of a [`Few`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct FewParts<'a> {
        /// See [`Few::a`].
        pub a: &'a mut [u8],
    }

    impl sinew::loan::Built for Few {
        type Lengths = FewLengths;
        type Parts<'a> = FewParts<'a>;

        fn check(lengths: &FewLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Few";
            sinew::loan::check::<4294967295>(lengths.a, NAME, "a")?;
            Ok(())
        }

        fn end_with(&self, lengths: &FewLengths, at: usize) -> usize {
            let at = sinew::loan::end::<u8>(lengths.a, at);
            let at = cdr::aligned(at, 1) + 1;
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &FewLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> ::core::result::Result<FewParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Few";
            let a = sinew::loan::leave::<_, 4294967295>(encoder, lengths.a, NAME, "a")?;
            let mut run = encoder.run::<1>(1);
            run.put_bools(0, &[self.b]);
            Ok(FewParts { a })
        }

        fn find_parts(view: &FewView<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = found.sequence(&view.a);
            found
        }

        fn cut_parts<'a>(
            cutter: &mut sinew::loan::Cutter<'a>,
        ) -> ::core::option::Option<FewParts<'a>> {
            let a = cutter.sequence()?;
            Some(FewParts { a })
        }

        fn parts_of_value(&mut self) -> FewParts<'_> {
            FewParts {
                a: sinew::loan::part(&mut self.a),
            }
        }
    }

    /// `arm_msgs/msg/Joint`
    ///
    /// A joint, as its controller sees it.
    /// Angles are in \[rad\], torques in \<N m\>.
    ///
    /// ```text
    ///     let angle = not_rust(joint);
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct Joint {
        /// `uint8`
        ///
        /// one of the above
        pub r#type: u8,
        /// `string<=8`
        pub name: cdr::BoundedString<8>,
        /// `float64[]`
        pub self_: ::std::vec::Vec<f64>,
        /// `int16[<=3]`
        pub steps: cdr::BoundedVec<i16, 3>,
        /// `arm_msgs/Vec`
        pub position: Vec,
        /// `bool[2]`
        pub flags: [bool; 2],
        /// `byte[4]`
        pub raw: [u8; 4],
        /// `string[2]`
        pub labels: [::std::string::String; 2],
        /// `float32[36]`
        pub weights: [f32; 36],
        /// `wstring`
        pub wide: cdr::WString,
    }

    impl ::core::default::Default for Joint {
        fn default() -> Self {
            Self {
                r#type: 1,
                name: cdr::bounded_text("arm"),
                self_: ::std::vec![1.0, -2.5],
                steps: cdr::bounded_sequence([1, 2]),
                position: ::core::default::Default::default(),
                flags: [true, false],
                raw: ::core::default::Default::default(),
                labels: ["a".to_owned(), "b".to_owned()],
                weights: ::core::array::from_fn(|_| ::core::default::Default::default()),
                wide: cdr::WString::from("ä"),
            }
        }
    }

    impl Joint {
        /// `uint8`
        ///
        /// Revolute joints turn.
        pub const REVOLUTE: u8 = 1;
        /// `uint8`
        pub const PRISMATIC: u8 = 2;
        /// `string`
        pub const UNIT: &'static str = "rad \"°\"";
        /// `float32`
        pub const LIMIT: f32 = -1.5;
        /// `bool`
        pub const SAFE: bool = true;
    }

    impl sinew::Message for Joint {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Joint> = cdr::encoding::<Joint>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Joint {
        const NAME: &'static str = "arm_msgs/msg/Joint";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_daebb0f976250736857860123e5e27c042d85ed75b5840b0e58d1ba2f7b681fb",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Joint",
                fields: &[
                    ("type", <u8 as cdr::Field>::TYPE),
                    ("name", <cdr::BoundedString<8> as cdr::Field>::TYPE),
                    ("self", <::std::vec::Vec<f64> as cdr::Field>::TYPE),
                    ("steps", <cdr::BoundedVec<i16, 3> as cdr::Field>::TYPE),
                    ("position", <Vec as cdr::Field>::TYPE),
                    ("flags", <[bool; 2] as cdr::Field>::TYPE),
                    (
                        "raw",
                        cdr::description::ConstFieldType::array(
                            &cdr::description::ConstFieldType::BYTE,
                            4,
                        ),
                    ),
                    ("labels", <[::std::string::String; 2] as cdr::Field>::TYPE),
                    ("weights", <[f32; 36] as cdr::Field>::TYPE),
                    ("wide", <cdr::WString as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Joint {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 1;
        const LEAST: usize = 199;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::aligned(at, 1) + 1;
            let at = cdr::Field::end(&self.name, at);
            let at = cdr::Field::end(&self.self_, at);
            let at = cdr::Field::end(&self.steps, at);
            let at = cdr::aligned(at, 8) + 24;
            let at = cdr::Field::end(&self.flags, at);
            let at = cdr::aligned(at, 1) + 4;
            let at = cdr::Field::end(&self.labels, at);
            let at = cdr::aligned(at, 4) + 144;
            let at = cdr::Field::end(&self.wide, at);
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            let mut run = encoder.run::<1>(1);
            run.put(0, &self.r#type);
            cdr::Field::encode(&self.name, encoder);
            cdr::Field::encode(&self.self_, encoder);
            cdr::Field::encode(&self.steps, encoder);
            let mut run = encoder.run::<24>(8);
            run.put(0, &self.position);
            cdr::Field::encode(&self.flags, encoder);
            let mut run = encoder.run::<4>(1);
            run.put(0, &self.raw);
            cdr::Field::encode(&self.labels, encoder);
            let mut run = encoder.run::<144>(4);
            run.put(0, &self.weights);
            cdr::Field::encode(&self.wide, encoder);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Joint";
            let run = decoder.run::<1>(1, NAME, &[(1, "type")])?;
            run.copy(0, &mut self.r#type);
            cdr::decode_field(&mut self.name, decoder, NAME, "name")?;
            cdr::decode_field(&mut self.self_, decoder, NAME, "self")?;
            cdr::decode_field(&mut self.steps, decoder, NAME, "steps")?;
            let run = decoder.run::<24>(8, NAME, &[(24, "position")])?;
            run.copy(0, &mut self.position);
            cdr::decode_field(&mut self.flags, decoder, NAME, "flags")?;
            let run = decoder.run::<4>(1, NAME, &[(4, "raw")])?;
            run.copy(0, &mut self.raw);
            cdr::decode_field(&mut self.labels, decoder, NAME, "labels")?;
            let run = decoder.run::<144>(4, NAME, &[(144, "weights")])?;
            run.copy(0, &mut self.weights);
            cdr::decode_field(&mut self.wide, decoder, NAME, "wide")?;
            Ok(())
        }
    }

    /// [`Joint`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct Joint_View<'a> {
        /// See [`Joint::type`].
        pub r#type: u8,
        /// See [`Joint::name`].
        pub name: view::Text<'a>,
        /// See [`Joint::self_`].
        pub self_: ::std::borrow::Cow<'a, [f64]>,
        /// See [`Joint::steps`].
        pub steps: ::std::borrow::Cow<'a, [i16]>,
        /// See [`Joint::position`].
        pub position: Vec,
        /// See [`Joint::flags`].
        pub flags: [bool; 2],
        /// See [`Joint::raw`].
        pub raw: [u8; 4],
        /// See [`Joint::labels`].
        pub labels: [view::Text<'a>; 2],
        /// See [`Joint::weights`].
        pub weights: [f32; 36],
        /// See [`Joint::wide`].
        pub wide: cdr::WString,
    }

    impl view::Viewed for Joint {
        type View<'a> = Joint_View<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> Joint_View<'_> {
            Joint_View {
                r#type: self.r#type,
                name: view::Viewed::of(&self.name),
                self_: view::Viewed::of(&self.self_),
                steps: view::Viewed::of(&self.steps),
                position: self.position,
                flags: self.flags,
                raw: self.raw,
                labels: view::Viewed::of(&self.labels),
                weights: self.weights,
                wide: view::Viewed::of(&self.wide),
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<Joint_View<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Joint";
            let run = decoder.run::<1>(1, NAME, &[(1, "type")])?;
            let r#type = run.value(0);
            let name = view::field::<cdr::BoundedString<8>>(decoder, NAME, "name")?;
            let self_ = view::field::<::std::vec::Vec<f64>>(decoder, NAME, "self")?;
            let steps = view::field::<cdr::BoundedVec<i16, 3>>(decoder, NAME, "steps")?;
            let run = decoder.run::<24>(8, NAME, &[(24, "position")])?;
            let position = run.value(0);
            let flags = view::field::<[bool; 2]>(decoder, NAME, "flags")?;
            let run = decoder.run::<4>(1, NAME, &[(4, "raw")])?;
            let raw = run.value(0);
            let labels = view::field::<[::std::string::String; 2]>(decoder, NAME, "labels")?;
            let run = decoder.run::<144>(4, NAME, &[(144, "weights")])?;
            let weights = run.value(0);
            let wide = view::field::<cdr::WString>(decoder, NAME, "wide")?;
            Ok(Joint_View {
                r#type,
                name,
                self_,
                steps,
                position,
                flags,
                raw,
                labels,
                weights,
                wide,
            })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`Joint`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct JointLengths {
        /// Of [`Joint::self_`].
        pub self_: usize,
        /// Of [`Joint::steps`].
        pub steps: usize,
    }

    /// Of a [`Joint`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct JointParts<'a> {
        /// See [`Joint::self_`].
        pub self_: &'a mut [f64],
        /// See [`Joint::steps`].
        pub steps: &'a mut [i16],
    }

    impl sinew::loan::Built for Joint {
        type Lengths = JointLengths;
        type Parts<'a> = JointParts<'a>;

        fn check(lengths: &JointLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Joint";
            sinew::loan::check::<4294967295>(lengths.self_, NAME, "self")?;
            sinew::loan::check::<3>(lengths.steps, NAME, "steps")?;
            Ok(())
        }

        fn end_with(&self, lengths: &JointLengths, at: usize) -> usize {
            let at = cdr::aligned(at, 1) + 1;
            let at = cdr::Field::end(&self.name, at);
            let at = sinew::loan::end::<f64>(lengths.self_, at);
            let at = sinew::loan::end::<i16>(lengths.steps, at);
            let at = cdr::aligned(at, 8) + 24;
            let at = cdr::Field::end(&self.flags, at);
            let at = cdr::aligned(at, 1) + 4;
            let at = cdr::Field::end(&self.labels, at);
            let at = cdr::aligned(at, 4) + 144;
            let at = cdr::Field::end(&self.wide, at);
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &JointLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> ::core::result::Result<JointParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Joint";
            let mut run = encoder.run::<1>(1);
            run.put(0, &self.r#type);
            cdr::Field::encode(&self.name, encoder);
            let self_ = sinew::loan::leave::<_, 4294967295>(encoder, lengths.self_, NAME, "self")?;
            let steps = sinew::loan::leave::<_, 3>(encoder, lengths.steps, NAME, "steps")?;
            let mut run = encoder.run::<24>(8);
            run.put(0, &self.position);
            cdr::Field::encode(&self.flags, encoder);
            let mut run = encoder.run::<4>(1);
            run.put(0, &self.raw);
            cdr::Field::encode(&self.labels, encoder);
            let mut run = encoder.run::<144>(4);
            run.put(0, &self.weights);
            cdr::Field::encode(&self.wide, encoder);
            Ok(JointParts { self_, steps })
        }

        fn find_parts(view: &Joint_View<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = found.sequence(&view.self_);
            let found = found.sequence(&view.steps);
            found
        }

        fn cut_parts<'a>(
            cutter: &mut sinew::loan::Cutter<'a>,
        ) -> ::core::option::Option<JointParts<'a>> {
            let self_ = cutter.sequence()?;
            let steps = cutter.sequence()?;
            Some(JointParts { self_, steps })
        }

        fn parts_of_value(&mut self) -> JointParts<'_> {
            JointParts {
                self_: sinew::loan::part(&mut self.self_),
                steps: sinew::loan::part(&mut self.steps),
            }
        }
    }

    /// `arm_msgs/msg/JointView`
    ///
    /// Its name is that of what sees a joint.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(C)]
    pub struct JointView {
        /// `uint8`
        pub x: u8,
    }

    impl sinew::Message for JointView {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<JointView> = cdr::plain_encoding::<JointView>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for JointView {
        const NAME: &'static str = "arm_msgs/msg/JointView";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_706327768c822a8b6c15d40e567f44f132db250f4c4c7f12323c2cf53ada8480",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/JointView",
                fields: &[("x", <u8 as cdr::Field>::TYPE)],
            };
    }

    impl cdr::Field for JointView {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 1;
        const LEAST: usize = 1;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::aligned(at, 1) + 1;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            let mut run = encoder.run::<1>(1);
            run.put(0, &self.x);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/JointView";
            let run = decoder.run::<1>(1, NAME, &[(1, "x")])?;
            run.copy(0, &mut self.x);
            Ok(())
        }

        sinew::plain_slices!();
    }

    const _: () = {
        const fn needs_plain<T: sinew::Plain>() {}
        use ::core::mem::offset_of;
        assert!(size_of::<JointView>() == 1);
        assert!(align_of::<JointView>() == 1);
        needs_plain::<u8>();
        assert!(offset_of!(JointView, x) == 0);
    };

    // SAFETY: the constant above does not compile unless all fields are plain, so all zeros
    // are a value.
    unsafe impl sinew::bytemuck::Zeroable for JointView {}

    // SAFETY: as above, all fields are plain, and each begins where the one before ends, as
    // does the struct's end: there is no padding.
    unsafe impl sinew::bytemuck::Pod for JointView {}

    // SAFETY: as above. In encoded bytes that begin at a multiple of the struct's alignment
    // each field lies at a multiple of its own, where CDR needs no padding either.
    unsafe impl sinew::Plain for JointView {}

    impl view::Viewed for JointView {
        type View<'a> = Self;
        type Sequence<'a> = ::std::borrow::Cow<'a, [Self]>;

        #[inline]
        fn of(&self) -> Self {
            *self
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> ::std::borrow::Cow<'_, [Self]> {
            ::std::borrow::Cow::Borrowed(values)
        }

        fn view(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            cdr::Field::decode(decoder)
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<::std::borrow::Cow<'a, [Self]>, cdr::Fault> {
            view::slice(count, decoder)
        }
    }

    /// `arm_msgs/msg/Keywords`
    ///
    /// Fields that Rust reserves even as raw identifiers.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Keywords {
        /// `float64[]`
        pub self_: ::std::vec::Vec<f64>,
        /// `float64[]`
        pub crate_: ::std::vec::Vec<f64>,
        /// `arm_msgs/Few`
        pub super_: Few,
        /// `string`
        pub r#type: ::std::string::String,
    }

    impl sinew::Message for Keywords {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Keywords> = cdr::encoding::<Keywords>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Keywords {
        const NAME: &'static str = "arm_msgs/msg/Keywords";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_351114a152e08a95e31f65cb025950f110d466a89b77d187538a40f80b49bb69",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Keywords",
                fields: &[
                    ("self", <::std::vec::Vec<f64> as cdr::Field>::TYPE),
                    ("crate", <::std::vec::Vec<f64> as cdr::Field>::TYPE),
                    ("super", <Few as cdr::Field>::TYPE),
                    ("type", <::std::string::String as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Keywords {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 17;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.self_, at);
            let at = cdr::Field::end(&self.crate_, at);
            let at = cdr::Field::end(&self.super_, at);
            let at = cdr::Field::end(&self.r#type, at);
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.self_, encoder);
            cdr::Field::encode(&self.crate_, encoder);
            cdr::Field::encode(&self.super_, encoder);
            cdr::Field::encode(&self.r#type, encoder);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Keywords";
            cdr::decode_field(&mut self.self_, decoder, NAME, "self")?;
            cdr::decode_field(&mut self.crate_, decoder, NAME, "crate")?;
            cdr::decode_field(&mut self.super_, decoder, NAME, "super")?;
            cdr::decode_field(&mut self.r#type, decoder, NAME, "type")?;
            Ok(())
        }
    }

    /// [`Keywords`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct KeywordsView<'a> {
        /// See [`Keywords::self_`].
        pub self_: ::std::borrow::Cow<'a, [f64]>,
        /// See [`Keywords::crate_`].
        pub crate_: ::std::borrow::Cow<'a, [f64]>,
        /// See [`Keywords::super_`].
        pub super_: FewView<'a>,
        /// See [`Keywords::type`].
        pub r#type: view::Text<'a>,
    }

    impl view::Viewed for Keywords {
        type View<'a> = KeywordsView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> KeywordsView<'_> {
            KeywordsView {
                self_: view::Viewed::of(&self.self_),
                crate_: view::Viewed::of(&self.crate_),
                super_: view::Viewed::of(&self.super_),
                r#type: view::Viewed::of(&self.r#type),
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<KeywordsView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Keywords";
            let self_ = view::field::<::std::vec::Vec<f64>>(decoder, NAME, "self")?;
            let crate_ = view::field::<::std::vec::Vec<f64>>(decoder, NAME, "crate")?;
            let super_ = view::field::<Few>(decoder, NAME, "super")?;
            let r#type = view::field::<::std::string::String>(decoder, NAME, "type")?;
            Ok(KeywordsView {
                self_,
                crate_,
                super_,
                r#type,
            })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`Keywords`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct KeywordsLengths {
        /// Of [`Keywords::self_`].
        pub self_: usize,
        /// Of [`Keywords::crate_`].
        pub crate_: usize,
        /// Of [`Keywords::super_`].
        pub super_: FewLengths,
    }

    /// Of a [`Keywords`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct KeywordsParts<'a> {
        /// See [`Keywords::self_`].
        pub self_: &'a mut [f64],
        /// See [`Keywords::crate_`].
        pub crate_: &'a mut [f64],
        /// See [`Keywords::super_`].
        pub super_: FewParts<'a>,
    }

    impl sinew::loan::Built for Keywords {
        type Lengths = KeywordsLengths;
        type Parts<'a> = KeywordsParts<'a>;

        fn check(lengths: &KeywordsLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Keywords";
            sinew::loan::check::<4294967295>(lengths.self_, NAME, "self")?;
            sinew::loan::check::<4294967295>(lengths.crate_, NAME, "crate")?;
            <Few as sinew::loan::Built>::check(&lengths.super_)?;
            Ok(())
        }

        fn end_with(&self, lengths: &KeywordsLengths, at: usize) -> usize {
            let at = sinew::loan::end::<f64>(lengths.self_, at);
            let at = sinew::loan::end::<f64>(lengths.crate_, at);
            let at = sinew::loan::Built::end_with(&self.super_, &lengths.super_, at);
            let at = cdr::Field::end(&self.r#type, at);
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &KeywordsLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> ::core::result::Result<KeywordsParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Keywords";
            let self_ = sinew::loan::leave::<_, 4294967295>(encoder, lengths.self_, NAME, "self")?;
            let crate_ =
                sinew::loan::leave::<_, 4294967295>(encoder, lengths.crate_, NAME, "crate")?;
            let super_ = sinew::loan::Built::build_parts(&self.super_, &lengths.super_, encoder)?;
            cdr::Field::encode(&self.r#type, encoder);
            Ok(KeywordsParts {
                self_,
                crate_,
                super_,
            })
        }

        fn find_parts(view: &KeywordsView<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = found.sequence(&view.self_);
            let found = found.sequence(&view.crate_);
            let found = <Few as sinew::loan::Built>::find_parts(&view.super_, found);
            found
        }

        fn cut_parts<'a>(
            cutter: &mut sinew::loan::Cutter<'a>,
        ) -> ::core::option::Option<KeywordsParts<'a>> {
            let self_ = cutter.sequence()?;
            let crate_ = cutter.sequence()?;
            let super_ = <Few as sinew::loan::Built>::cut_parts(cutter)?;
            Some(KeywordsParts {
                self_,
                crate_,
                super_,
            })
        }

        fn parts_of_value(&mut self) -> KeywordsParts<'_> {
            KeywordsParts {
                self_: sinew::loan::part(&mut self.self_),
                crate_: sinew::loan::part(&mut self.crate_),
                super_: sinew::loan::Built::parts_of_value(&mut self.super_),
            }
        }
    }

    /// `arm_msgs/msg/Limits`
    ///
    /// What is too long for a line, and what just isn't.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Limits {
        /// `string<=5[<=2]`
        pub shorts: cdr::BoundedVec<cdr::BoundedString<5>, 2>,
        /// `string<=20[<=9]`
        pub names: cdr::BoundedVec<cdr::BoundedString<20>, 9>,
        /// `string<=90`
        pub said: cdr::BoundedString<90>,
        /// `string<=200`
        pub said_at_length: cdr::BoundedString<200>,
        /// `string`
        pub text: ::std::string::String,
        /// `string`
        pub long_text: ::std::string::String,
        /// `string[3]`
        pub texts: [::std::string::String; 3],
        /// `string[]`
        pub many_texts: ::std::vec::Vec<::std::string::String>,
        /// `wstring<=9`
        pub wide: cdr::BoundedWString<9>,
        /// `wstring<=9[<=3]`
        pub wider: cdr::BoundedVec<cdr::BoundedWString<9>, 3>,
        /// `int32[<=40]`
        pub numbers: cdr::BoundedVec<i32, 40>,
        /// `float64[24]`
        pub matrix: [f64; 24],
        /// `int64[]`
        pub large: ::std::vec::Vec<i64>,
        /// `int64[]`
        pub nearly_large: ::std::vec::Vec<i64>,
        /// `bool[12]`
        pub flags: [bool; 12],
        /// `byte[<=3]`
        pub octets: cdr::BoundedVec<u8, 3>,
        /// `byte[7]`
        pub octets_of_a_name_that_is_longer: [u8; 7],
        /// `byte[]`
        pub octet_sequence_of_a_name: ::std::vec::Vec<u8>,
        /// `byte`
        pub octet: u8,
        /// `float64[]`
        pub a_name_of_a_field_that_is_as_long_as_names_ever_are_here: ::std::vec::Vec<f64>,
        /// `arm_msgs/ANameThatIsAsLongAsNamesEverAre[]`
        pub a_name_of_a_field_with_such_messages: ::std::vec::Vec<ANameThatIsAsLongAsNamesEverAre>,
        /// `arm_msgs/ANameThatIsAsLongAsNamesEverAre[<=3]`
        pub some: cdr::BoundedVec<ANameThatIsAsLongAsNamesEverAre, 3>,
        /// `arm_msgs/ANameThatIsAsLongAsNamesEverAre`
        pub one: ANameThatIsAsLongAsNamesEverAre,
        /// `arm_msgs/Joint`
        pub a_name_of_a_field_that_has_sequences_inside: Joint,
    }

    impl ::core::default::Default for Limits {
        fn default() -> Self {
            Self {
                shorts: cdr::bounded_sequence([cdr::bounded_text("a"), cdr::bounded_text("b")]),
                names: cdr::bounded_sequence([
                    cdr::bounded_text("a name"),
                    cdr::bounded_text("another one"),
                    cdr::bounded_text("one more"),
                    cdr::bounded_text("the last of them"),
                    cdr::bounded_text("one behind the last"),
                ]),
                said: cdr::bounded_text(
                    "a text that is nearly as long as a line of a program is, but shorter",
                ),
                said_at_length: cdr::bounded_text(
                    "a text that is nearly as long as a line of a program is, and then some more of it, and more",
                ),
                text: "a text that is nearly as long as a line of a program is, but not quite"
                    .to_owned(),
                long_text: "a text that is nearly as long as a line of a program is, and longer"
                    .to_owned(),
                texts: ["one".to_owned(), "two".to_owned(), "three".to_owned()],
                many_texts: ::std::vec![
                    "one, which is long".to_owned(),
                    "two, which is longer".to_owned(),
                    "three, which is longest".to_owned(),
                ],
                wide: cdr::bounded_text("ä"),
                wider: cdr::bounded_sequence([
                    cdr::bounded_text("ä"),
                    cdr::bounded_text("ö"),
                    cdr::bounded_text("ü"),
                ]),
                numbers: cdr::bounded_sequence([
                    1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16, 17, -18, 19,
                    -20, 21, -22, 23, -24, 25, -26,
                ]),
                matrix: [
                    1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0,
                    0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
                ],
                large: ::std::vec![1000000000, 1000000001, 10000000002, 1000000003, 1000000004],
                nearly_large: ::std::vec![
                    100000000, 100000001, 100000002, 100000003, 100000004, 100000005, 100000006,
                ],
                flags: [
                    true, true, true, true, true, true, false, false, false, false, false, false,
                ],
                octets: cdr::bounded_sequence([1, 2]),
                octets_of_a_name_that_is_longer: ::core::default::Default::default(),
                octet_sequence_of_a_name: ::core::default::Default::default(),
                octet: 3,
                a_name_of_a_field_that_is_as_long_as_names_ever_are_here:
                    ::core::default::Default::default(),
                a_name_of_a_field_with_such_messages: ::core::default::Default::default(),
                some: ::core::default::Default::default(),
                one: ::core::default::Default::default(),
                a_name_of_a_field_that_has_sequences_inside: ::core::default::Default::default(),
            }
        }
    }

    impl Limits {
        /// `string`
        pub const LONG: &'static str =
            "a text that is so long that it has a line of its own, even in this constant";
        /// `string`
        pub const ENDLESS: &'static str = "a text that is so long that it is in no line, not even in one of its own, whatever that is indented by";
        /// `float64`
        pub const A_NUMBER: f64 = 1e-9;
    }

    impl sinew::Message for Limits {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Limits> = cdr::encoding::<Limits>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Limits {
        const NAME: &'static str = "arm_msgs/msg/Limits";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_2c21f8c538564fbee5e2348a96a451c7df0ada08946d439edde4fec7585b3ddc",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Limits",
                fields: &[
                    (
                        "shorts",
                        <cdr::BoundedVec<cdr::BoundedString<5>, 2> as cdr::Field>::TYPE,
                    ),
                    (
                        "names",
                        <cdr::BoundedVec<cdr::BoundedString<20>, 9> as cdr::Field>::TYPE,
                    ),
                    ("said", <cdr::BoundedString<90> as cdr::Field>::TYPE),
                    (
                        "said_at_length",
                        <cdr::BoundedString<200> as cdr::Field>::TYPE,
                    ),
                    ("text", <::std::string::String as cdr::Field>::TYPE),
                    ("long_text", <::std::string::String as cdr::Field>::TYPE),
                    ("texts", <[::std::string::String; 3] as cdr::Field>::TYPE),
                    (
                        "many_texts",
                        <::std::vec::Vec<::std::string::String> as cdr::Field>::TYPE,
                    ),
                    ("wide", <cdr::BoundedWString<9> as cdr::Field>::TYPE),
                    (
                        "wider",
                        <cdr::BoundedVec<cdr::BoundedWString<9>, 3> as cdr::Field>::TYPE,
                    ),
                    ("numbers", <cdr::BoundedVec<i32, 40> as cdr::Field>::TYPE),
                    ("matrix", <[f64; 24] as cdr::Field>::TYPE),
                    ("large", <::std::vec::Vec<i64> as cdr::Field>::TYPE),
                    ("nearly_large", <::std::vec::Vec<i64> as cdr::Field>::TYPE),
                    ("flags", <[bool; 12] as cdr::Field>::TYPE),
                    (
                        "octets",
                        cdr::description::ConstFieldType::bounded_sequence(
                            &cdr::description::ConstFieldType::BYTE,
                            3,
                        ),
                    ),
                    (
                        "octets_of_a_name_that_is_longer",
                        cdr::description::ConstFieldType::array(
                            &cdr::description::ConstFieldType::BYTE,
                            7,
                        ),
                    ),
                    (
                        "octet_sequence_of_a_name",
                        cdr::description::ConstFieldType::sequence(
                            &cdr::description::ConstFieldType::BYTE,
                        ),
                    ),
                    ("octet", cdr::description::ConstFieldType::BYTE),
                    (
                        "a_name_of_a_field_that_is_as_long_as_names_ever_are_here",
                        <::std::vec::Vec<f64> as cdr::Field>::TYPE,
                    ),
                    (
                        "a_name_of_a_field_with_such_messages",
                        <::std::vec::Vec<ANameThatIsAsLongAsNamesEverAre> as cdr::Field>::TYPE,
                    ),
                    (
                        "some",
                        <cdr::BoundedVec<ANameThatIsAsLongAsNamesEverAre, 3> as cdr::Field>::TYPE,
                    ),
                    ("one", <ANameThatIsAsLongAsNamesEverAre as cdr::Field>::TYPE),
                    (
                        "a_name_of_a_field_that_has_sequences_inside",
                        <Joint as cdr::Field>::TYPE,
                    ),
                ],
            };
    }

    impl cdr::Field for Limits {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 499;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.shorts, at);
            let at = cdr::Field::end(&self.names, at);
            let at = cdr::Field::end(&self.said, at);
            let at = cdr::Field::end(&self.said_at_length, at);
            let at = cdr::Field::end(&self.text, at);
            let at = cdr::Field::end(&self.long_text, at);
            let at = cdr::Field::end(&self.texts, at);
            let at = cdr::Field::end(&self.many_texts, at);
            let at = cdr::Field::end(&self.wide, at);
            let at = cdr::Field::end(&self.wider, at);
            let at = cdr::Field::end(&self.numbers, at);
            let at = cdr::aligned(at, 8) + 192;
            let at = cdr::Field::end(&self.large, at);
            let at = cdr::Field::end(&self.nearly_large, at);
            let at = cdr::Field::end(&self.flags, at);
            let at = cdr::Field::end(&self.octets, at);
            let at = cdr::aligned(at, 1) + 7;
            let at = cdr::Field::end(&self.octet_sequence_of_a_name, at);
            let at = cdr::aligned(at, 1) + 1;
            let at = cdr::Field::end(
                &self.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                at,
            );
            let at = cdr::Field::end(&self.a_name_of_a_field_with_such_messages, at);
            let at = cdr::Field::end(&self.some, at);
            let at = cdr::aligned(at, 1) + 8;
            let at = cdr::Field::end(&self.a_name_of_a_field_that_has_sequences_inside, at);
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.shorts, encoder);
            cdr::Field::encode(&self.names, encoder);
            cdr::Field::encode(&self.said, encoder);
            cdr::Field::encode(&self.said_at_length, encoder);
            cdr::Field::encode(&self.text, encoder);
            cdr::Field::encode(&self.long_text, encoder);
            cdr::Field::encode(&self.texts, encoder);
            cdr::Field::encode(&self.many_texts, encoder);
            cdr::Field::encode(&self.wide, encoder);
            cdr::Field::encode(&self.wider, encoder);
            cdr::Field::encode(&self.numbers, encoder);
            let mut run = encoder.run::<192>(8);
            run.put(0, &self.matrix);
            cdr::Field::encode(&self.large, encoder);
            cdr::Field::encode(&self.nearly_large, encoder);
            cdr::Field::encode(&self.flags, encoder);
            cdr::Field::encode(&self.octets, encoder);
            let mut run = encoder.run::<7>(1);
            run.put(0, &self.octets_of_a_name_that_is_longer);
            cdr::Field::encode(&self.octet_sequence_of_a_name, encoder);
            let mut run = encoder.run::<1>(1);
            run.put(0, &self.octet);
            cdr::Field::encode(
                &self.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                encoder,
            );
            cdr::Field::encode(&self.a_name_of_a_field_with_such_messages, encoder);
            cdr::Field::encode(&self.some, encoder);
            let mut run = encoder.run::<8>(1);
            run.put(0, &self.one);
            cdr::Field::encode(&self.a_name_of_a_field_that_has_sequences_inside, encoder);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Limits";
            cdr::decode_field(&mut self.shorts, decoder, NAME, "shorts")?;
            cdr::decode_field(&mut self.names, decoder, NAME, "names")?;
            cdr::decode_field(&mut self.said, decoder, NAME, "said")?;
            cdr::decode_field(&mut self.said_at_length, decoder, NAME, "said_at_length")?;
            cdr::decode_field(&mut self.text, decoder, NAME, "text")?;
            cdr::decode_field(&mut self.long_text, decoder, NAME, "long_text")?;
            cdr::decode_field(&mut self.texts, decoder, NAME, "texts")?;
            cdr::decode_field(&mut self.many_texts, decoder, NAME, "many_texts")?;
            cdr::decode_field(&mut self.wide, decoder, NAME, "wide")?;
            cdr::decode_field(&mut self.wider, decoder, NAME, "wider")?;
            cdr::decode_field(&mut self.numbers, decoder, NAME, "numbers")?;
            let run = decoder.run::<192>(8, NAME, &[(192, "matrix")])?;
            run.copy(0, &mut self.matrix);
            cdr::decode_field(&mut self.large, decoder, NAME, "large")?;
            cdr::decode_field(&mut self.nearly_large, decoder, NAME, "nearly_large")?;
            cdr::decode_field(&mut self.flags, decoder, NAME, "flags")?;
            cdr::decode_field(&mut self.octets, decoder, NAME, "octets")?;
            let run = decoder.run::<7>(1, NAME, &[(7, "octets_of_a_name_that_is_longer")])?;
            run.copy(0, &mut self.octets_of_a_name_that_is_longer);
            cdr::decode_field(
                &mut self.octet_sequence_of_a_name,
                decoder,
                NAME,
                "octet_sequence_of_a_name",
            )?;
            let run = decoder.run::<1>(1, NAME, &[(1, "octet")])?;
            run.copy(0, &mut self.octet);
            cdr::decode_field(
                &mut self.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                decoder,
                NAME,
                "a_name_of_a_field_that_is_as_long_as_names_ever_are_here",
            )?;
            cdr::decode_field(
                &mut self.a_name_of_a_field_with_such_messages,
                decoder,
                NAME,
                "a_name_of_a_field_with_such_messages",
            )?;
            cdr::decode_field(&mut self.some, decoder, NAME, "some")?;
            let run = decoder.run::<8>(1, NAME, &[(8, "one")])?;
            run.copy(0, &mut self.one);
            cdr::decode_field(
                &mut self.a_name_of_a_field_that_has_sequences_inside,
                decoder,
                NAME,
                "a_name_of_a_field_that_has_sequences_inside",
            )?;
            Ok(())
        }
    }

    /// [`Limits`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct LimitsView<'a> {
        /// See [`Limits::shorts`].
        pub shorts: view::Views<'a, cdr::BoundedString<5>>,
        /// See [`Limits::names`].
        pub names: view::Views<'a, cdr::BoundedString<20>>,
        /// See [`Limits::said`].
        pub said: view::Text<'a>,
        /// See [`Limits::said_at_length`].
        pub said_at_length: view::Text<'a>,
        /// See [`Limits::text`].
        pub text: view::Text<'a>,
        /// See [`Limits::long_text`].
        pub long_text: view::Text<'a>,
        /// See [`Limits::texts`].
        pub texts: [view::Text<'a>; 3],
        /// See [`Limits::many_texts`].
        pub many_texts: view::Views<'a, ::std::string::String>,
        /// See [`Limits::wide`].
        pub wide: cdr::BoundedWString<9>,
        /// See [`Limits::wider`].
        pub wider: view::Views<'a, cdr::BoundedWString<9>>,
        /// See [`Limits::numbers`].
        pub numbers: ::std::borrow::Cow<'a, [i32]>,
        /// See [`Limits::matrix`].
        pub matrix: [f64; 24],
        /// See [`Limits::large`].
        pub large: ::std::borrow::Cow<'a, [i64]>,
        /// See [`Limits::nearly_large`].
        pub nearly_large: ::std::borrow::Cow<'a, [i64]>,
        /// See [`Limits::flags`].
        pub flags: [bool; 12],
        /// See [`Limits::octets`].
        pub octets: &'a [u8],
        /// See [`Limits::octets_of_a_name_that_is_longer`].
        pub octets_of_a_name_that_is_longer: [u8; 7],
        /// See [`Limits::octet_sequence_of_a_name`].
        pub octet_sequence_of_a_name: &'a [u8],
        /// See [`Limits::octet`].
        pub octet: u8,
        /// See [`Limits::a_name_of_a_field_that_is_as_long_as_names_ever_are_here`].
        pub a_name_of_a_field_that_is_as_long_as_names_ever_are_here: ::std::borrow::Cow<'a, [f64]>,
        /// See [`Limits::a_name_of_a_field_with_such_messages`].
        pub a_name_of_a_field_with_such_messages:
            ::std::borrow::Cow<'a, [ANameThatIsAsLongAsNamesEverAre]>,
        /// See [`Limits::some`].
        pub some: ::std::borrow::Cow<'a, [ANameThatIsAsLongAsNamesEverAre]>,
        /// See [`Limits::one`].
        pub one: ANameThatIsAsLongAsNamesEverAre,
        /// See [`Limits::a_name_of_a_field_that_has_sequences_inside`].
        pub a_name_of_a_field_that_has_sequences_inside: Joint_View<'a>,
    }

    impl view::Viewed for Limits {
        type View<'a> = LimitsView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> LimitsView<'_> {
            LimitsView {
                shorts: view::Viewed::of(&self.shorts),
                names: view::Viewed::of(&self.names),
                said: view::Viewed::of(&self.said),
                said_at_length: view::Viewed::of(&self.said_at_length),
                text: view::Viewed::of(&self.text),
                long_text: view::Viewed::of(&self.long_text),
                texts: view::Viewed::of(&self.texts),
                many_texts: view::Viewed::of(&self.many_texts),
                wide: view::Viewed::of(&self.wide),
                wider: view::Viewed::of(&self.wider),
                numbers: view::Viewed::of(&self.numbers),
                matrix: self.matrix,
                large: view::Viewed::of(&self.large),
                nearly_large: view::Viewed::of(&self.nearly_large),
                flags: self.flags,
                octets: view::Viewed::of(&self.octets),
                octets_of_a_name_that_is_longer: self.octets_of_a_name_that_is_longer,
                octet_sequence_of_a_name: view::Viewed::of(&self.octet_sequence_of_a_name),
                octet: self.octet,
                a_name_of_a_field_that_is_as_long_as_names_ever_are_here: view::Viewed::of(
                    &self.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                ),
                a_name_of_a_field_with_such_messages: view::Viewed::of(
                    &self.a_name_of_a_field_with_such_messages,
                ),
                some: view::Viewed::of(&self.some),
                one: self.one,
                a_name_of_a_field_that_has_sequences_inside: view::Viewed::of(
                    &self.a_name_of_a_field_that_has_sequences_inside,
                ),
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<LimitsView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Limits";
            let shorts =
                view::field::<cdr::BoundedVec<cdr::BoundedString<5>, 2>>(decoder, NAME, "shorts")?;
            let names =
                view::field::<cdr::BoundedVec<cdr::BoundedString<20>, 9>>(decoder, NAME, "names")?;
            let said = view::field::<cdr::BoundedString<90>>(decoder, NAME, "said")?;
            let said_at_length =
                view::field::<cdr::BoundedString<200>>(decoder, NAME, "said_at_length")?;
            let text = view::field::<::std::string::String>(decoder, NAME, "text")?;
            let long_text = view::field::<::std::string::String>(decoder, NAME, "long_text")?;
            let texts = view::field::<[::std::string::String; 3]>(decoder, NAME, "texts")?;
            let many_texts =
                view::field::<::std::vec::Vec<::std::string::String>>(decoder, NAME, "many_texts")?;
            let wide = view::field::<cdr::BoundedWString<9>>(decoder, NAME, "wide")?;
            let wider =
                view::field::<cdr::BoundedVec<cdr::BoundedWString<9>, 3>>(decoder, NAME, "wider")?;
            let numbers = view::field::<cdr::BoundedVec<i32, 40>>(decoder, NAME, "numbers")?;
            let run = decoder.run::<192>(8, NAME, &[(192, "matrix")])?;
            let matrix = run.value(0);
            let large = view::field::<::std::vec::Vec<i64>>(decoder, NAME, "large")?;
            let nearly_large = view::field::<::std::vec::Vec<i64>>(decoder, NAME, "nearly_large")?;
            let flags = view::field::<[bool; 12]>(decoder, NAME, "flags")?;
            let octets = view::field::<cdr::BoundedVec<u8, 3>>(decoder, NAME, "octets")?;
            let run = decoder.run::<7>(1, NAME, &[(7, "octets_of_a_name_that_is_longer")])?;
            let octets_of_a_name_that_is_longer = run.value(0);
            let octet_sequence_of_a_name =
                view::field::<::std::vec::Vec<u8>>(decoder, NAME, "octet_sequence_of_a_name")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "octet")])?;
            let octet = run.value(0);
            let a_name_of_a_field_that_is_as_long_as_names_ever_are_here =
                view::field::<::std::vec::Vec<f64>>(
                    decoder,
                    NAME,
                    "a_name_of_a_field_that_is_as_long_as_names_ever_are_here",
                )?;
            let a_name_of_a_field_with_such_messages =
                view::field::<::std::vec::Vec<ANameThatIsAsLongAsNamesEverAre>>(
                    decoder,
                    NAME,
                    "a_name_of_a_field_with_such_messages",
                )?;
            let some = view::field::<cdr::BoundedVec<ANameThatIsAsLongAsNamesEverAre, 3>>(
                decoder, NAME, "some",
            )?;
            let run = decoder.run::<8>(1, NAME, &[(8, "one")])?;
            let one = run.value(0);
            let a_name_of_a_field_that_has_sequences_inside =
                view::field::<Joint>(decoder, NAME, "a_name_of_a_field_that_has_sequences_inside")?;
            Ok(LimitsView {
                shorts,
                names,
                said,
                said_at_length,
                text,
                long_text,
                texts,
                many_texts,
                wide,
                wider,
                numbers,
                matrix,
                large,
                nearly_large,
                flags,
                octets,
                octets_of_a_name_that_is_longer,
                octet_sequence_of_a_name,
                octet,
                a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                a_name_of_a_field_with_such_messages,
                some,
                one,
                a_name_of_a_field_that_has_sequences_inside,
            })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`Limits`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LimitsLengths {
        /// Of [`Limits::numbers`].
        pub numbers: usize,
        /// Of [`Limits::large`].
        pub large: usize,
        /// Of [`Limits::nearly_large`].
        pub nearly_large: usize,
        /// Of [`Limits::octets`].
        pub octets: usize,
        /// Of [`Limits::octet_sequence_of_a_name`].
        pub octet_sequence_of_a_name: usize,
        /// Of [`Limits::a_name_of_a_field_that_is_as_long_as_names_ever_are_here`].
        pub a_name_of_a_field_that_is_as_long_as_names_ever_are_here: usize,
        /// Of [`Limits::a_name_of_a_field_with_such_messages`].
        pub a_name_of_a_field_with_such_messages: usize,
        /// Of [`Limits::some`].
        pub some: usize,
        /// Of [`Limits::a_name_of_a_field_that_has_sequences_inside`].
        pub a_name_of_a_field_that_has_sequences_inside: JointLengths,
    }

    /// Of a [`Limits`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct LimitsParts<'a> {
        /// See [`Limits::numbers`].
        pub numbers: &'a mut [i32],
        /// See [`Limits::large`].
        pub large: &'a mut [i64],
        /// See [`Limits::nearly_large`].
        pub nearly_large: &'a mut [i64],
        /// See [`Limits::octets`].
        pub octets: &'a mut [u8],
        /// See [`Limits::octet_sequence_of_a_name`].
        pub octet_sequence_of_a_name: &'a mut [u8],
        /// See [`Limits::a_name_of_a_field_that_is_as_long_as_names_ever_are_here`].
        pub a_name_of_a_field_that_is_as_long_as_names_ever_are_here: &'a mut [f64],
        /// See [`Limits::a_name_of_a_field_with_such_messages`].
        pub a_name_of_a_field_with_such_messages: &'a mut [ANameThatIsAsLongAsNamesEverAre],
        /// See [`Limits::some`].
        pub some: &'a mut [ANameThatIsAsLongAsNamesEverAre],
        /// See [`Limits::a_name_of_a_field_that_has_sequences_inside`].
        pub a_name_of_a_field_that_has_sequences_inside: JointParts<'a>,
    }

    impl sinew::loan::Built for Limits {
        type Lengths = LimitsLengths;
        type Parts<'a> = LimitsParts<'a>;

        fn check(lengths: &LimitsLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Limits";
            sinew::loan::check::<40>(lengths.numbers, NAME, "numbers")?;
            sinew::loan::check::<4294967295>(lengths.large, NAME, "large")?;
            sinew::loan::check::<4294967295>(lengths.nearly_large, NAME, "nearly_large")?;
            sinew::loan::check::<3>(lengths.octets, NAME, "octets")?;
            sinew::loan::check::<4294967295>(
                lengths.octet_sequence_of_a_name,
                NAME,
                "octet_sequence_of_a_name",
            )?;
            sinew::loan::check::<4294967295>(
                lengths.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                NAME,
                "a_name_of_a_field_that_is_as_long_as_names_ever_are_here",
            )?;
            sinew::loan::check::<4294967295>(
                lengths.a_name_of_a_field_with_such_messages,
                NAME,
                "a_name_of_a_field_with_such_messages",
            )?;
            sinew::loan::check::<3>(lengths.some, NAME, "some")?;
            <Joint as sinew::loan::Built>::check(
                &lengths.a_name_of_a_field_that_has_sequences_inside,
            )?;
            Ok(())
        }

        fn end_with(&self, lengths: &LimitsLengths, at: usize) -> usize {
            let at = cdr::Field::end(&self.shorts, at);
            let at = cdr::Field::end(&self.names, at);
            let at = cdr::Field::end(&self.said, at);
            let at = cdr::Field::end(&self.said_at_length, at);
            let at = cdr::Field::end(&self.text, at);
            let at = cdr::Field::end(&self.long_text, at);
            let at = cdr::Field::end(&self.texts, at);
            let at = cdr::Field::end(&self.many_texts, at);
            let at = cdr::Field::end(&self.wide, at);
            let at = cdr::Field::end(&self.wider, at);
            let at = sinew::loan::end::<i32>(lengths.numbers, at);
            let at = cdr::aligned(at, 8) + 192;
            let at = sinew::loan::end::<i64>(lengths.large, at);
            let at = sinew::loan::end::<i64>(lengths.nearly_large, at);
            let at = cdr::Field::end(&self.flags, at);
            let at = sinew::loan::end::<u8>(lengths.octets, at);
            let at = cdr::aligned(at, 1) + 7;
            let at = sinew::loan::end::<u8>(lengths.octet_sequence_of_a_name, at);
            let at = cdr::aligned(at, 1) + 1;
            let at = sinew::loan::end::<f64>(
                lengths.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                at,
            );
            let at = sinew::loan::end::<ANameThatIsAsLongAsNamesEverAre>(
                lengths.a_name_of_a_field_with_such_messages,
                at,
            );
            let at = sinew::loan::end::<ANameThatIsAsLongAsNamesEverAre>(lengths.some, at);
            let at = cdr::aligned(at, 1) + 8;
            let at = sinew::loan::Built::end_with(
                &self.a_name_of_a_field_that_has_sequences_inside,
                &lengths.a_name_of_a_field_that_has_sequences_inside,
                at,
            );
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &LimitsLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> ::core::result::Result<LimitsParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Limits";
            cdr::Field::encode(&self.shorts, encoder);
            cdr::Field::encode(&self.names, encoder);
            cdr::Field::encode(&self.said, encoder);
            cdr::Field::encode(&self.said_at_length, encoder);
            cdr::Field::encode(&self.text, encoder);
            cdr::Field::encode(&self.long_text, encoder);
            cdr::Field::encode(&self.texts, encoder);
            cdr::Field::encode(&self.many_texts, encoder);
            cdr::Field::encode(&self.wide, encoder);
            cdr::Field::encode(&self.wider, encoder);
            let numbers = sinew::loan::leave::<_, 40>(encoder, lengths.numbers, NAME, "numbers")?;
            let mut run = encoder.run::<192>(8);
            run.put(0, &self.matrix);
            let large = sinew::loan::leave::<_, 4294967295>(encoder, lengths.large, NAME, "large")?;
            let nearly_large = sinew::loan::leave::<_, 4294967295>(
                encoder,
                lengths.nearly_large,
                NAME,
                "nearly_large",
            )?;
            cdr::Field::encode(&self.flags, encoder);
            let octets = sinew::loan::leave::<_, 3>(encoder, lengths.octets, NAME, "octets")?;
            let mut run = encoder.run::<7>(1);
            run.put(0, &self.octets_of_a_name_that_is_longer);
            let octet_sequence_of_a_name = sinew::loan::leave::<_, 4294967295>(
                encoder,
                lengths.octet_sequence_of_a_name,
                NAME,
                "octet_sequence_of_a_name",
            )?;
            let mut run = encoder.run::<1>(1);
            run.put(0, &self.octet);
            let a_name_of_a_field_that_is_as_long_as_names_ever_are_here =
                sinew::loan::leave::<_, 4294967295>(
                    encoder,
                    lengths.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                    NAME,
                    "a_name_of_a_field_that_is_as_long_as_names_ever_are_here",
                )?;
            let a_name_of_a_field_with_such_messages = sinew::loan::leave::<_, 4294967295>(
                encoder,
                lengths.a_name_of_a_field_with_such_messages,
                NAME,
                "a_name_of_a_field_with_such_messages",
            )?;
            let some = sinew::loan::leave::<_, 3>(encoder, lengths.some, NAME, "some")?;
            let mut run = encoder.run::<8>(1);
            run.put(0, &self.one);
            let a_name_of_a_field_that_has_sequences_inside = sinew::loan::Built::build_parts(
                &self.a_name_of_a_field_that_has_sequences_inside,
                &lengths.a_name_of_a_field_that_has_sequences_inside,
                encoder,
            )?;
            Ok(LimitsParts {
                numbers,
                large,
                nearly_large,
                octets,
                octet_sequence_of_a_name,
                a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                a_name_of_a_field_with_such_messages,
                some,
                a_name_of_a_field_that_has_sequences_inside,
            })
        }

        fn find_parts(view: &LimitsView<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = found.sequence(&view.numbers);
            let found = found.sequence(&view.large);
            let found = found.sequence(&view.nearly_large);
            let found = found.sequence(&view.octets);
            let found = found.sequence(&view.octet_sequence_of_a_name);
            let found =
                found.sequence(&view.a_name_of_a_field_that_is_as_long_as_names_ever_are_here);
            let found = found.sequence(&view.a_name_of_a_field_with_such_messages);
            let found = found.sequence(&view.some);
            let found = <Joint as sinew::loan::Built>::find_parts(
                &view.a_name_of_a_field_that_has_sequences_inside,
                found,
            );
            found
        }

        fn cut_parts<'a>(
            cutter: &mut sinew::loan::Cutter<'a>,
        ) -> ::core::option::Option<LimitsParts<'a>> {
            let numbers = cutter.sequence()?;
            let large = cutter.sequence()?;
            let nearly_large = cutter.sequence()?;
            let octets = cutter.sequence()?;
            let octet_sequence_of_a_name = cutter.sequence()?;
            let a_name_of_a_field_that_is_as_long_as_names_ever_are_here = cutter.sequence()?;
            let a_name_of_a_field_with_such_messages = cutter.sequence()?;
            let some = cutter.sequence()?;
            let a_name_of_a_field_that_has_sequences_inside =
                <Joint as sinew::loan::Built>::cut_parts(cutter)?;
            Some(LimitsParts {
                numbers,
                large,
                nearly_large,
                octets,
                octet_sequence_of_a_name,
                a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                a_name_of_a_field_with_such_messages,
                some,
                a_name_of_a_field_that_has_sequences_inside,
            })
        }

        fn parts_of_value(&mut self) -> LimitsParts<'_> {
            LimitsParts {
                numbers: sinew::loan::part(&mut self.numbers),
                large: sinew::loan::part(&mut self.large),
                nearly_large: sinew::loan::part(&mut self.nearly_large),
                octets: sinew::loan::part(&mut self.octets),
                octet_sequence_of_a_name: sinew::loan::part(&mut self.octet_sequence_of_a_name),
                a_name_of_a_field_that_is_as_long_as_names_ever_are_here: sinew::loan::part(
                    &mut self.a_name_of_a_field_that_is_as_long_as_names_ever_are_here,
                ),
                a_name_of_a_field_with_such_messages: sinew::loan::part(
                    &mut self.a_name_of_a_field_with_such_messages,
                ),
                some: sinew::loan::part(&mut self.some),
                a_name_of_a_field_that_has_sequences_inside: sinew::loan::Built::parts_of_value(
                    &mut self.a_name_of_a_field_that_has_sequences_inside,
                ),
            }
        }
    }

    /// `arm_msgs/msg/Option`
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Option {
        /// `arm_msgs/String[]`
        pub option: ::std::vec::Vec<String>,
        /// `arm_msgs/Joint[]`
        pub result: ::std::vec::Vec<Joint>,
        /// `arm_msgs/Joint`
        ///
        /// What it was asked for.
        pub joint: Joint,
    }

    impl sinew::Message for Option {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Option> = cdr::encoding::<Option>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Option {
        const NAME: &'static str = "arm_msgs/msg/Option";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_d7866f228fa8af4402fc6e915450f74b81b6c95c258ad90a762c2d4324ddd417",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Option",
                fields: &[
                    ("option", <::std::vec::Vec<String> as cdr::Field>::TYPE),
                    ("result", <::std::vec::Vec<Joint> as cdr::Field>::TYPE),
                    ("joint", <Joint as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Option {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 207;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.option, at);
            let at = cdr::Field::end(&self.result, at);
            let at = cdr::Field::end(&self.joint, at);
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.option, encoder);
            cdr::Field::encode(&self.result, encoder);
            cdr::Field::encode(&self.joint, encoder);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Option";
            cdr::decode_field(&mut self.option, decoder, NAME, "option")?;
            cdr::decode_field(&mut self.result, decoder, NAME, "result")?;
            cdr::decode_field(&mut self.joint, decoder, NAME, "joint")?;
            Ok(())
        }
    }

    /// [`Option`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct OptionView<'a> {
        /// See [`Option::option`].
        pub option: view::Views<'a, String>,
        /// See [`Option::result`].
        pub result: view::Views<'a, Joint>,
        /// See [`Option::joint`].
        pub joint: Joint_View<'a>,
    }

    impl view::Viewed for Option {
        type View<'a> = OptionView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> OptionView<'_> {
            OptionView {
                option: view::Viewed::of(&self.option),
                result: view::Viewed::of(&self.result),
                joint: view::Viewed::of(&self.joint),
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<OptionView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Option";
            let option = view::field::<::std::vec::Vec<String>>(decoder, NAME, "option")?;
            let result = view::field::<::std::vec::Vec<Joint>>(decoder, NAME, "result")?;
            let joint = view::field::<Joint>(decoder, NAME, "joint")?;
            Ok(OptionView {
                option,
                result,
                joint,
            })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`Option`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct OptionLengths {
        /// Of [`Option::joint`].
        pub joint: JointLengths,
    }

    /// Of a [`Option`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct OptionParts<'a> {
        /// See [`Option::joint`].
        pub joint: JointParts<'a>,
    }

    impl sinew::loan::Built for Option {
        type Lengths = OptionLengths;
        type Parts<'a> = OptionParts<'a>;

        fn check(lengths: &OptionLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Option";
            <Joint as sinew::loan::Built>::check(&lengths.joint)?;
            Ok(())
        }

        fn end_with(&self, lengths: &OptionLengths, at: usize) -> usize {
            let at = cdr::Field::end(&self.option, at);
            let at = cdr::Field::end(&self.result, at);
            let at = sinew::loan::Built::end_with(&self.joint, &lengths.joint, at);
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &OptionLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> ::core::result::Result<OptionParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Option";
            cdr::Field::encode(&self.option, encoder);
            cdr::Field::encode(&self.result, encoder);
            let joint = sinew::loan::Built::build_parts(&self.joint, &lengths.joint, encoder)?;
            Ok(OptionParts { joint })
        }

        fn find_parts(view: &OptionView<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = <Joint as sinew::loan::Built>::find_parts(&view.joint, found);
            found
        }

        fn cut_parts<'a>(
            cutter: &mut sinew::loan::Cutter<'a>,
        ) -> ::core::option::Option<OptionParts<'a>> {
            let joint = <Joint as sinew::loan::Built>::cut_parts(cutter)?;
            Some(OptionParts { joint })
        }

        fn parts_of_value(&mut self) -> OptionParts<'_> {
            OptionParts {
                joint: sinew::loan::Built::parts_of_value(&mut self.joint),
            }
        }
    }

    /// `arm_msgs/msg/Result`
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Result {
        /// `arm_msgs/Option[2]`
        pub value: [Option; 2],
        /// `bool`
        pub ok: bool,
    }

    impl sinew::Message for Result {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Result> = cdr::encoding::<Result>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Result {
        const NAME: &'static str = "arm_msgs/msg/Result";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_833241b5c3a3246d3ab50d3dcd6145ae9603421ad8b8982f8ba4e5a6061fd5a6",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Result",
                fields: &[
                    ("value", <[Option; 2] as cdr::Field>::TYPE),
                    ("ok", <bool as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Result {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 415;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.value, at);
            let at = cdr::aligned(at, 1) + 1;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.value, encoder);
            let mut run = encoder.run::<1>(1);
            run.put_bools(0, &[self.ok]);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Result";
            cdr::decode_field(&mut self.value, decoder, NAME, "value")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "ok")])?;
            self.ok = run.bool(0)?;
            Ok(())
        }
    }

    /// [`Result`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct ResultView<'a> {
        /// See [`Result::value`].
        pub value: [OptionView<'a>; 2],
        /// See [`Result::ok`].
        pub ok: bool,
    }

    impl view::Viewed for Result {
        type View<'a> = ResultView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> ResultView<'_> {
            ResultView {
                value: view::Viewed::of(&self.value),
                ok: self.ok,
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<ResultView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Result";
            let value = view::field::<[Option; 2]>(decoder, NAME, "value")?;
            let run = decoder.run::<1>(1, NAME, &[(1, "ok")])?;
            let ok = run.bool(0)?;
            Ok(ResultView { value, ok })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// `arm_msgs/msg/String`
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct String {
        /// `string`
        pub run: ::std::string::String,
        /// `uint8[]`
        pub decoder: ::std::vec::Vec<u8>,
        /// `float64[<=2]`
        pub encoder: cdr::BoundedVec<f64, 2>,
        /// `string`
        pub lengths: ::std::string::String,
    }

    impl sinew::Message for String {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<String> = cdr::encoding::<String>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for String {
        const NAME: &'static str = "arm_msgs/msg/String";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_d2204b6b84b0b0c2890c6dc863ccbdd47f17bdc0dc89aa4680a965791731209f",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/String",
                fields: &[
                    ("run", <::std::string::String as cdr::Field>::TYPE),
                    ("decoder", <::std::vec::Vec<u8> as cdr::Field>::TYPE),
                    ("encoder", <cdr::BoundedVec<f64, 2> as cdr::Field>::TYPE),
                    ("lengths", <::std::string::String as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for String {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 4;
        const LEAST: usize = 16;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::Field::end(&self.run, at);
            let at = cdr::Field::end(&self.decoder, at);
            let at = cdr::Field::end(&self.encoder, at);
            let at = cdr::Field::end(&self.lengths, at);
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            cdr::Field::encode(&self.run, encoder);
            cdr::Field::encode(&self.decoder, encoder);
            cdr::Field::encode(&self.encoder, encoder);
            cdr::Field::encode(&self.lengths, encoder);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/String";
            cdr::decode_field(&mut self.run, decoder, NAME, "run")?;
            cdr::decode_field(&mut self.decoder, decoder, NAME, "decoder")?;
            cdr::decode_field(&mut self.encoder, decoder, NAME, "encoder")?;
            cdr::decode_field(&mut self.lengths, decoder, NAME, "lengths")?;
            Ok(())
        }
    }

    /// [`String`], as it is seen in an encoded message or a value.
    #[derive(Clone, Debug)]
    pub struct StringView<'a> {
        /// See [`String::run`].
        pub run: view::Text<'a>,
        /// See [`String::decoder`].
        pub decoder: &'a [u8],
        /// See [`String::encoder`].
        pub encoder: ::std::borrow::Cow<'a, [f64]>,
        /// See [`String::lengths`].
        pub lengths: view::Text<'a>,
    }

    impl view::Viewed for String {
        type View<'a> = StringView<'a>;
        type Sequence<'a> = view::Views<'a, Self>;

        #[inline]
        fn of(&self) -> StringView<'_> {
            StringView {
                run: view::Viewed::of(&self.run),
                decoder: view::Viewed::of(&self.decoder),
                encoder: view::Viewed::of(&self.encoder),
                lengths: view::Viewed::of(&self.lengths),
            }
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> view::Views<'_, Self> {
            view::Views::of(values)
        }

        fn view<'a>(
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<StringView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/String";
            let run_ = view::field::<::std::string::String>(decoder, NAME, "run")?;
            let decoder_ = view::field::<::std::vec::Vec<u8>>(decoder, NAME, "decoder")?;
            let encoder_ = view::field::<cdr::BoundedVec<f64, 2>>(decoder, NAME, "encoder")?;
            let lengths_ = view::field::<::std::string::String>(decoder, NAME, "lengths")?;
            Ok(StringView {
                run: run_,
                decoder: decoder_,
                encoder: encoder_,
                lengths: lengths_,
            })
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
        }
    }

    /// Of a [`String`], built in place: how many elements its sequences have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct StringLengths {
        /// Of [`String::decoder`].
        pub decoder: usize,
        /// Of [`String::encoder`].
        pub encoder: usize,
    }

    /// Of a [`String`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct StringParts<'a> {
        /// See [`String::decoder`].
        pub decoder: &'a mut [u8],
        /// See [`String::encoder`].
        pub encoder: &'a mut [f64],
    }

    impl sinew::loan::Built for String {
        type Lengths = StringLengths;
        type Parts<'a> = StringParts<'a>;

        fn check(lengths: &StringLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/String";
            sinew::loan::check::<4294967295>(lengths.decoder, NAME, "decoder")?;
            sinew::loan::check::<2>(lengths.encoder, NAME, "encoder")?;
            Ok(())
        }

        fn end_with(&self, lengths: &StringLengths, at: usize) -> usize {
            let at = cdr::Field::end(&self.run, at);
            let at = sinew::loan::end::<u8>(lengths.decoder, at);
            let at = sinew::loan::end::<f64>(lengths.encoder, at);
            let at = cdr::Field::end(&self.lengths, at);
            at
        }

        fn build_parts<'a>(
            &self,
            lengths: &StringLengths,
            encoder: &mut cdr::Encoder<'a>,
        ) -> ::core::result::Result<StringParts<'a>, sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/String";
            cdr::Field::encode(&self.run, encoder);
            let decoder_ =
                sinew::loan::leave::<_, 4294967295>(encoder, lengths.decoder, NAME, "decoder")?;
            let encoder_ = sinew::loan::leave::<_, 2>(encoder, lengths.encoder, NAME, "encoder")?;
            cdr::Field::encode(&self.lengths, encoder);
            Ok(StringParts {
                decoder: decoder_,
                encoder: encoder_,
            })
        }

        fn find_parts(view: &StringView<'_>, found: sinew::loan::Found) -> sinew::loan::Found {
            let found = found.sequence(&view.decoder);
            let found = found.sequence(&view.encoder);
            found
        }

        fn cut_parts<'a>(
            cutter: &mut sinew::loan::Cutter<'a>,
        ) -> ::core::option::Option<StringParts<'a>> {
            let decoder_ = cutter.sequence()?;
            let encoder_ = cutter.sequence()?;
            Some(StringParts {
                decoder: decoder_,
                encoder: encoder_,
            })
        }

        fn parts_of_value(&mut self) -> StringParts<'_> {
            StringParts {
                decoder: sinew::loan::part(&mut self.decoder),
                encoder: sinew::loan::part(&mut self.encoder),
            }
        }
    }

    /// `arm_msgs/msg/Vec`
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct Vec {
        /// `float64`
        pub x: f64,
        /// `float64`
        pub y: f64,
        /// `uint32[2]`
        pub r#fn: [u32; 2],
    }

    impl ::core::default::Default for Vec {
        fn default() -> Self {
            Self {
                x: ::core::default::Default::default(),
                y: 1.5,
                r#fn: ::core::default::Default::default(),
            }
        }
    }

    impl sinew::Message for Vec {
        const ENCODING: ::core::option::Option<&'static sinew::Encoding<Self>> = {
            const TABLE: sinew::Encoding<Vec> = cdr::plain_encoding::<Vec>();
            Some(&TABLE)
        };
    }

    impl cdr::Structure for Vec {
        const NAME: &'static str = "arm_msgs/msg/Vec";
        const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            "RIHS01_7457e9323f974f70d82f124ba97eb0ec900b9376bbdcfc62c608a326e17269a6",
        );

        const DESCRIPTION: &'static cdr::description::ConstDescription =
            &cdr::description::ConstDescription {
                name: "arm_msgs/msg/Vec",
                fields: &[
                    ("x", <f64 as cdr::Field>::TYPE),
                    ("y", <f64 as cdr::Field>::TYPE),
                    ("fn", <[u32; 2] as cdr::Field>::TYPE),
                ],
            };
    }

    impl cdr::Field for Vec {
        const TYPE: cdr::description::ConstFieldType =
            cdr::description::ConstFieldType::structure(<Self as cdr::Structure>::DESCRIPTION);
        const ALIGNMENT: usize = 8;
        const LEAST: usize = 24;

        #[inline]
        fn end(&self, at: usize) -> usize {
            let at = cdr::aligned(at, 8) + 24;
            at
        }

        #[inline]
        fn encode(&self, encoder: &mut cdr::Encoder<'_>) {
            let mut run = encoder.run::<24>(8);
            run.put(0, &self.x);
            run.put(8, &self.y);
            run.put(16, &self.r#fn);
        }

        #[inline]
        fn decode(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            let mut value = <Self as ::core::default::Default>::default();
            cdr::Field::decode_into(&mut value, decoder)?;
            Ok(value)
        }

        fn decode_into(
            &mut self,
            decoder: &mut cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Vec";
            let run = decoder.run::<24>(8, NAME, &[(8, "x"), (16, "y"), (24, "fn")])?;
            run.copy(0, &mut self.x);
            run.copy(8, &mut self.y);
            run.copy(16, &mut self.r#fn);
            Ok(())
        }

        sinew::plain_slices!();
    }

    const _: () = {
        const fn needs_plain<T: sinew::Plain>() {}
        use ::core::mem::offset_of;
        assert!(size_of::<Vec>() == 24);
        assert!(align_of::<Vec>() == 8);
        needs_plain::<f64>();
        assert!(offset_of!(Vec, x) == 0);
        needs_plain::<f64>();
        assert!(offset_of!(Vec, y) == 8);
        needs_plain::<[u32; 2]>();
        assert!(offset_of!(Vec, r#fn) == 16);
    };

    // SAFETY: the constant above does not compile unless all fields are plain, so all zeros
    // are a value.
    unsafe impl sinew::bytemuck::Zeroable for Vec {}

    // SAFETY: as above, all fields are plain, and each begins where the one before ends, as
    // does the struct's end: there is no padding.
    unsafe impl sinew::bytemuck::Pod for Vec {}

    // SAFETY: as above. In encoded bytes that begin at a multiple of the struct's alignment
    // each field lies at a multiple of its own, where CDR needs no padding either.
    unsafe impl sinew::Plain for Vec {}

    impl view::Viewed for Vec {
        type View<'a> = Self;
        type Sequence<'a> = ::std::borrow::Cow<'a, [Self]>;

        #[inline]
        fn of(&self) -> Self {
            *self
        }

        #[inline]
        fn sequence_of(values: &[Self]) -> ::std::borrow::Cow<'_, [Self]> {
            ::std::borrow::Cow::Borrowed(values)
        }

        fn view(decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<Self, cdr::Fault> {
            cdr::Field::decode(decoder)
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<::std::borrow::Cow<'a, [Self]>, cdr::Fault> {
            view::slice(count, decoder)
        }
    }
}
