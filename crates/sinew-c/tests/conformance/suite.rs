//! The scenarios, as sinew-core has them; without those of which this interface has no word.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::needless_question_mark, reason = "the library has more types of errors than these names")]

macro_rules! scenarios {
    ($($topic:ident = $path:literal,)*) => {
        $(#[path = $path]
        pub(crate) mod $topic;)*
    };
}

scenarios! {
    events = "../../../sinew-core/tests/conformance/suite/events.rs",
    faults = "../../../sinew-core/tests/conformance/suite/faults.rs",
    groups = "../../../sinew-core/tests/conformance/suite/groups.rs",
    hands = "../../../sinew-core/tests/conformance/suite/hands.rs",
    histories = "../../../sinew-core/tests/conformance/suite/histories.rs",
    lifetime = "../../../sinew-core/tests/conformance/suite/lifetime.rs",
    order = "../../../sinew-core/tests/conformance/suite/order.rs",
    pauses = "../../../sinew-core/tests/conformance/suite/pauses.rs",
    pressure = "../../../sinew-core/tests/conformance/suite/pressure.rs",
    services = "../../../sinew-core/tests/conformance/suite/services.rs",
    stage = "../../../sinew-core/tests/conformance/suite/stage.rs",
    stopping = "../../../sinew-core/tests/conformance/suite/stopping.rs",
    support = "../../../sinew-core/tests/support/mod.rs",
    time = "../../../sinew-core/tests/conformance/suite/time.rs",
}
