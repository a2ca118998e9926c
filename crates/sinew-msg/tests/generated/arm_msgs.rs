/// The messages of `arm_msgs`.
#[allow(
    dead_code,
    unreachable_pub,
    unsafe_code,
    non_camel_case_types,
    clippy::all,
    clippy::pedantic,
    reason = "generated from the definitions of arm_msgs"
)]
pub mod msg {
    use ::sinew_msg::{self as sinew, cdr, view};

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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Default";
            let run = decoder.run::<4>(4, NAME, &[(4, "at")])?;
            run.copy(0, &mut self.at);
            let run = decoder.run::<9>(8, NAME, &[
                (8, "after"),
                (9, "flag"),
            ])?;
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<Self, cdr::Fault> {
            cdr::Field::decode(decoder)
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<view::Views<'a, Self>, cdr::Fault> {
            view::Views::new(count, decoder)
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
                name: "arm".try_into().expect("a default value within its bound"),
                self_: ::std::vec![1.0, -2.5],
                steps: <::std::vec::Vec<i16>>::from([1, 2]).try_into().expect("a default value within its bound"),
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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
            name: "arm_msgs/msg/Joint",
            fields: &[
                ("type", <u8 as cdr::Field>::TYPE),
                ("name", <cdr::BoundedString<8> as cdr::Field>::TYPE),
                ("self", <::std::vec::Vec<f64> as cdr::Field>::TYPE),
                ("steps", <cdr::BoundedVec<i16, 3> as cdr::Field>::TYPE),
                ("position", <Vec as cdr::Field>::TYPE),
                ("flags", <[bool; 2] as cdr::Field>::TYPE),
                ("raw", cdr::description::ConstFieldType::array(&cdr::description::ConstFieldType::BYTE, 4)),
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Joint";
            let run = decoder.run::<1>(1, NAME, &[(1, "type")])?;
            run.copy(0, &mut self.r#type);
            cdr::Field::decode_into(&mut self.name, decoder)
                .map_err(|fault| fault.in_field(NAME, "name"))?;
            cdr::Field::decode_into(&mut self.self_, decoder)
                .map_err(|fault| fault.in_field(NAME, "self"))?;
            cdr::Field::decode_into(&mut self.steps, decoder)
                .map_err(|fault| fault.in_field(NAME, "steps"))?;
            let run = decoder.run::<24>(8, NAME, &[(24, "position")])?;
            run.copy(0, &mut self.position);
            cdr::Field::decode_into(&mut self.flags, decoder)
                .map_err(|fault| fault.in_field(NAME, "flags"))?;
            let run = decoder.run::<4>(1, NAME, &[(4, "raw")])?;
            run.copy(0, &mut self.raw);
            cdr::Field::decode_into(&mut self.labels, decoder)
                .map_err(|fault| fault.in_field(NAME, "labels"))?;
            let run = decoder.run::<144>(4, NAME, &[(144, "weights")])?;
            run.copy(0, &mut self.weights);
            cdr::Field::decode_into(&mut self.wide, decoder)
                .map_err(|fault| fault.in_field(NAME, "wide"))?;
            Ok(())
        }
    }

    /// [`Joint`], as it is seen in an image or a value.
    #[derive(Clone, Debug)]
    pub struct Joint_View<'a> {
        /// See [`Joint::type`].
        pub r#type: u8,
        /// See [`Joint::name`].
        pub name: view::Text<'a>,
        /// See [`Joint::self`].
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<Joint_View<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Joint";
            let run = decoder.run::<1>(1, NAME, &[(1, "type")])?;
            let r#type = run.value(0);
            let name = <cdr::BoundedString<8> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "name"))?;
            let self_ = <::std::vec::Vec<f64> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "self"))?;
            let steps = <cdr::BoundedVec<i16, 3> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "steps"))?;
            let run = decoder.run::<24>(8, NAME, &[(24, "position")])?;
            let position = run.value(0);
            let flags = <[bool; 2] as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "flags"))?;
            let run = decoder.run::<4>(1, NAME, &[(4, "raw")])?;
            let raw = run.value(0);
            let labels = <[::std::string::String; 2] as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "labels"))?;
            let run = decoder.run::<144>(4, NAME, &[(144, "weights")])?;
            let weights = run.value(0);
            let wide = <cdr::WString as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "wide"))?;
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
        /// Of [`Joint::self`].
        pub self_: usize,
        /// Of [`Joint::steps`].
        pub steps: usize,
    }

    /// Of a [`Joint`], built in place: its sequences, for the caller to fill.
    #[derive(Debug)]
    pub struct JointParts<'a> {
        /// See [`Joint::self`].
        pub self_: &'a mut [f64],
        /// See [`Joint::steps`].
        pub steps: &'a mut [i16],
    }

    impl sinew::loan::Built for Joint {
        type Lengths = JointLengths;
        type Parts<'a> = JointParts<'a>;

        fn check(lengths: &JointLengths) -> ::core::result::Result<(), sinew::loan::BuildError> {
            const NAME: &str = "arm_msgs/msg/Joint";
            sinew::loan::check::<4294967295>(lengths.self_)
                .map_err(|error| error.in_field(NAME, "self"))?;
            sinew::loan::check::<3>(lengths.steps)
                .map_err(|error| error.in_field(NAME, "steps"))?;
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
            let self_ = sinew::loan::leave::<f64, 4294967295>(encoder, lengths.self_)
                .map_err(|error| error.in_field(NAME, "self"))?;
            let steps = sinew::loan::leave::<i16, 3>(encoder, lengths.steps)
                .map_err(|error| error.in_field(NAME, "steps"))?;
            let mut run = encoder.run::<24>(8);
            run.put(0, &self.position);
            cdr::Field::encode(&self.flags, encoder);
            let mut run = encoder.run::<4>(1);
            run.put(0, &self.raw);
            cdr::Field::encode(&self.labels, encoder);
            let mut run = encoder.run::<144>(4);
            run.put(0, &self.weights);
            cdr::Field::encode(&self.wide, encoder);
            Ok(JointParts {
                self_,
                steps,
            })
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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
            name: "arm_msgs/msg/JointView",
            fields: &[
                ("x", <u8 as cdr::Field>::TYPE),
            ],
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/JointView";
            let run = decoder.run::<1>(1, NAME, &[(1, "x")])?;
            run.copy(0, &mut self.x);
            Ok(())
        }

        sinew::plain_slices!();
    }

    const _: () = {
        const fn needs_plain<T: sinew::Plain>() {}
        assert!(size_of::<JointView>() == 1 && align_of::<JointView>() == 1);
        needs_plain::<u8>();
        assert!(::core::mem::offset_of!(JointView, x) == 0);
    };

    // SAFETY: the constant above does not compile unless all fields are plain, so all zeros are a value.
    unsafe impl sinew::bytemuck::Zeroable for JointView {}

    // SAFETY: as above, all fields are plain, and each begins where the one before ends, as does the struct's end:
    // there is no padding.
    unsafe impl sinew::bytemuck::Pod for JointView {}

    // SAFETY: as above. In an image that begins at a multiple of the struct's alignment each field lies at a
    // multiple of its own, where CDR needs no padding either.
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<Self, cdr::Fault> {
            cdr::Field::decode(decoder)
        }

        fn view_sequence<'a>(
            count: usize,
            decoder: &mut cdr::Decoder<'a>,
        ) -> ::core::result::Result<::std::borrow::Cow<'a, [Self]>, cdr::Fault> {
            view::slice(count, decoder)
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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Option";
            cdr::Field::decode_into(&mut self.option, decoder)
                .map_err(|fault| fault.in_field(NAME, "option"))?;
            cdr::Field::decode_into(&mut self.result, decoder)
                .map_err(|fault| fault.in_field(NAME, "result"))?;
            cdr::Field::decode_into(&mut self.joint, decoder)
                .map_err(|fault| fault.in_field(NAME, "joint"))?;
            Ok(())
        }
    }

    /// [`Option`], as it is seen in an image or a value.
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<OptionView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Option";
            let option = <::std::vec::Vec<String> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "option"))?;
            let result = <::std::vec::Vec<Joint> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "result"))?;
            let joint = <Joint as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "joint"))?;
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
            Ok(OptionParts {
                joint,
            })
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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Result";
            cdr::Field::decode_into(&mut self.value, decoder)
                .map_err(|fault| fault.in_field(NAME, "value"))?;
            let run = decoder.run::<1>(1, NAME, &[(1, "ok")])?;
            self.ok = run.bool(0)?;
            Ok(())
        }
    }

    /// [`Result`], as it is seen in an image or a value.
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<ResultView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Result";
            let value = <[Option; 2] as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "value"))?;
            let run = decoder.run::<1>(1, NAME, &[(1, "ok")])?;
            let ok = run.bool(0)?;
            Ok(ResultView {
                value,
                ok,
            })
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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/String";
            cdr::Field::decode_into(&mut self.run, decoder)
                .map_err(|fault| fault.in_field(NAME, "run"))?;
            cdr::Field::decode_into(&mut self.decoder, decoder)
                .map_err(|fault| fault.in_field(NAME, "decoder"))?;
            cdr::Field::decode_into(&mut self.encoder, decoder)
                .map_err(|fault| fault.in_field(NAME, "encoder"))?;
            cdr::Field::decode_into(&mut self.lengths, decoder)
                .map_err(|fault| fault.in_field(NAME, "lengths"))?;
            Ok(())
        }
    }

    /// [`String`], as it is seen in an image or a value.
    #[derive(Clone, Debug)]
    pub struct StringView<'a> {
        /// See [`String::run`].
        pub run: view::Text<'a>,
        /// See [`String::decoder`].
        pub decoder: ::std::borrow::Cow<'a, [u8]>,
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<StringView<'a>, cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/String";
            let run_ = <::std::string::String as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "run"))?;
            let decoder_ = <::std::vec::Vec<u8> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "decoder"))?;
            let encoder_ = <cdr::BoundedVec<f64, 2> as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "encoder"))?;
            let lengths_ = <::std::string::String as view::Viewed>::view(decoder)
                .map_err(|fault| fault.in_field(NAME, "lengths"))?;
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
            sinew::loan::check::<4294967295>(lengths.decoder)
                .map_err(|error| error.in_field(NAME, "decoder"))?;
            sinew::loan::check::<2>(lengths.encoder)
                .map_err(|error| error.in_field(NAME, "encoder"))?;
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
            let decoder_ = sinew::loan::leave::<u8, 4294967295>(encoder, lengths.decoder)
                .map_err(|error| error.in_field(NAME, "decoder"))?;
            let encoder_ = sinew::loan::leave::<f64, 2>(encoder, lengths.encoder)
                .map_err(|error| error.in_field(NAME, "encoder"))?;
            cdr::Field::encode(&self.lengths, encoder);
            Ok(StringParts {
                decoder: decoder_,
                encoder: encoder_,
            })
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
        const DESCRIPTION: &'static cdr::description::ConstDescription = &cdr::description::ConstDescription {
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

        fn decode_into(&mut self, decoder: &mut cdr::Decoder<'_>) -> ::core::result::Result<(), cdr::Fault> {
            const NAME: &str = "arm_msgs/msg/Vec";
            let run = decoder.run::<24>(8, NAME, &[
                (8, "x"),
                (16, "y"),
                (24, "fn"),
            ])?;
            run.copy(0, &mut self.x);
            run.copy(8, &mut self.y);
            run.copy(16, &mut self.r#fn);
            Ok(())
        }

        sinew::plain_slices!();
    }

    const _: () = {
        const fn needs_plain<T: sinew::Plain>() {}
        assert!(size_of::<Vec>() == 24 && align_of::<Vec>() == 8);
        needs_plain::<f64>();
        assert!(::core::mem::offset_of!(Vec, x) == 0);
        needs_plain::<f64>();
        assert!(::core::mem::offset_of!(Vec, y) == 8);
        needs_plain::<[u32; 2]>();
        assert!(::core::mem::offset_of!(Vec, r#fn) == 16);
    };

    // SAFETY: the constant above does not compile unless all fields are plain, so all zeros are a value.
    unsafe impl sinew::bytemuck::Zeroable for Vec {}

    // SAFETY: as above, all fields are plain, and each begins where the one before ends, as does the struct's end:
    // there is no padding.
    unsafe impl sinew::bytemuck::Pod for Vec {}

    // SAFETY: as above. In an image that begins at a multiple of the struct's alignment each field lies at a
    // multiple of its own, where CDR needs no padding either.
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

        fn view<'a>(decoder: &mut cdr::Decoder<'a>) -> ::core::result::Result<Self, cdr::Fault> {
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
