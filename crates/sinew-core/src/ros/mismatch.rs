//! Matching of a publisher and a subscription of one topic, and the reasons why they do not match.
//!
//! The rules are those of [`matching`](super::qos), unless one endpoint belongs to a program that
//! matches any QoS ([`Origin::matches_any_qos`]), and one more: their types are the same. Within a
//! process the types themselves are compared ([`TypeSupport::exchanges_with`]); between processes,
//! the name, the hash, and whether values can leave their process, as participants announce them.

use super::origin::Origin;
use super::qos::{self, Incompatibility, QoS};
use crate::message::type_support::TypeSupport;
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use sinew_shm::{Domain, Endpoint, EndpointKind};
use std::fmt;

/// The reason why a publisher and a subscription of one topic exchange no messages. For tools: a
/// program's own endpoints get it by `on_incompatible_qos` and `on_incompatible_type`.
///
/// Its text is the one that both endpoints report: "durability (offers volatile, asked
/// transient_local)".
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Their types are not the same. Each has its name, with the beginning of its hash if the names
    /// are the same.
    #[non_exhaustive]
    Type {
        /// The publisher's type.
        offered: String,
        /// The subscription's type.
        asked: String,
        /// The differences between two known types of one name: the name, and the text of
        /// [`TypeDescription::difference`].
        difference: Option<(String, String)>,
    },
    /// They are in two processes, and values of this type stay in their process.
    #[non_exhaustive]
    StaysInside {
        /// The type.
        type_name: String,
    },
    /// The publisher offers less than the subscription asks for.
    Qos(Incompatibility),
    /// One of them has a QoS that this version of Sinew can't read.
    Unreadable,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { difference: Some((name, difference)), .. } => {
                write!(f, "type ({name}: {difference})")
            }
            Self::Type { offered, asked, .. } => write!(f, "type (offers {offered}, asked {asked})"),
            Self::StaysInside { type_name } => write!(
                f,
                "type ({type_name} stays in its process: derive(Message) gives it a form that others can read)"
            ),
            Self::Qos(incompatibility) => incompatibility.fmt(f),
            Self::Unreadable => f.write_str("QoS (of another version of Sinew)"),
        }
    }
}

impl Mismatch {
    /// Returns the reason why a publisher and a subscription (or a server and a client) do not
    /// match, as their participants announce them; `None` if they match, or are not two such
    /// endpoints of one name. `in_one_process`: of one participant. With a domain, it has the
    /// differences between two types of one name, as far as the types are known by their
    /// descriptions there. Reads two files in that case. Allocates texts.
    #[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
    pub fn of_announced(
        publisher: &Endpoint,
        subscription: &Endpoint,
        in_one_process: bool,
        domain: Option<&Domain>,
    ) -> Option<Self> {
        use EndpointKind::{Client, Publisher, Server, Subscription};
        let is_pair =
            matches!((publisher.kind, subscription.kind), (Publisher, Subscription) | (Server, Client));
        if !is_pair || publisher.name != subscription.name {
            return None;
        }
        let (Some(offered), Some(asked)) =
            (QoS::from_bytes(&publisher.qos), QoS::from_bytes(&subscription.qos))
        else {
            return Some(Self::Unreadable);
        };
        let [offered, asked] = [(publisher, &offered), (subscription, &asked)]
            .map(|(entity, qos)| End::of(entity, qos).described_in(domain));
        Self::of_ends(&offered, &asked, in_one_process, publisher.kind == Server)
    }

    /// As [`of_announced`](Self::of_announced), for the endpoints of one name. `is_service`: they
    /// are a server and a client.
    pub(crate) fn of_ends(
        offered: &End<'_>,
        asked: &End<'_>,
        in_one_process: bool,
        is_service: bool,
    ) -> Option<Self> {
        let found = match in_one_process {
            // Types with a hash are compared by their hash, types without one by their name, which
            // is Rust's.
            true => Match::of(offered.name == asked.name && offered.hash == asked.hash, offered, asked),
            false => Match::outside(offered, asked),
        };
        let ends = if is_service { ["at the server", "at the client"] } else { ENDS };
        found.mismatch_at(offered, asked, ends)
    }
}

/// The places of the types that differ.
const ENDS: [&str; 2] = ["at the publisher", "at the subscription"];

/// Returns the description of the type with this hash that a participant of the domain has stored,
/// if it is valid. Reads a file.
pub(crate) fn kept_description(domain: &Domain, hash: &[u8; 32]) -> Option<TypeDescription> {
    let text = domain.description(hash).ok()??;
    let description = TypeDescription::from_json(str::from_utf8(&text).ok()?)?;
    (description.hash().0 == *hash).then_some(description)
}

/// The result of matching a publisher and a subscription of one topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    Yes,
    OtherType,
    OtherQos,
    /// The type of one can't leave its process.
    Never,
    /// Both are on the network: a gateway brings nothing back there, and nothing is wrong.
    Apart,
}

/// An endpoint's properties for matching.
pub(crate) struct End<'a> {
    name: &'a str,
    /// Zeros for none.
    hash: [u8; 32],
    travels: bool,
    qos: &'a QoS,
    origin: Origin,
    described: Described<'a>,
}

/// The place of the description of an endpoint's type.
#[derive(Clone, Copy)]
enum Described<'a> {
    Nowhere,
    /// This program has the type.
    Here(&'a TypeSupport),
    /// It may be stored beside the domain.
    In(&'a Domain),
}

impl<'a> End<'a> {
    pub(crate) fn new(table: &'a TypeSupport, qos: &'a QoS, origin: Origin) -> Self {
        let hash = table.hash().map_or([0; 32], |hash| hash.0);
        let described = Described::Here(table);
        Self { name: table.name(), hash, travels: table.encoded.is_some(), qos, origin, described }
    }

    /// Looks for the type's description beside this domain.
    #[must_use]
    pub(crate) fn described_in(self, domain: Option<&'a Domain>) -> Self {
        Self { described: domain.map_or(Described::Nowhere, Described::In), ..self }
    }

    /// `qos` is the entity's.
    pub(crate) fn of(entity: &'a Endpoint, qos: &'a QoS) -> Self {
        let origin = Origin::of(entity).unwrap_or_default();
        Self::published((&entity.type_name, entity.hash), QoS::says_travels(&entity.qos), qos, origin)
    }

    pub(crate) fn published(
        (name, hash): (&'a str, [u8; 32]),
        travels: bool,
        qos: &'a QoS,
        origin: Origin,
    ) -> Self {
        Self { name, hash, travels, qos, origin, described: Described::Nowhere }
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.qos.is_blocking()
    }

    /// Describes its type for people who look for the difference to the other one.
    fn describe_type(&self, other: &Self) -> String {
        match self.hash == [0; 32] || self.name != other.name {
            true => self.name.to_owned(),
            false => format!("{} {}", self.name, TypeHash(self.hash).short()),
        }
    }

    fn description(&self) -> Option<TypeDescription> {
        match self.described {
            Described::Nowhere => None,
            Described::Here(table) => table.description(),
            Described::In(domain) => kept_description(domain, &self.hash),
        }
    }
}

impl Match {
    /// Matches endpoints of one process; `same_type` is the process's own comparison.
    pub(crate) fn of(same_type: bool, offered: &End<'_>, asked: &End<'_>) -> Self {
        if !offered.origin.meets(asked.origin) {
            return Self::Apart;
        }
        if !same_type {
            return Self::OtherType;
        }
        match qos::incompatibility(offered.qos, asked.qos) {
            Some(_) if offered.origin.matches_any_qos() || asked.origin.matches_any_qos() => Self::Yes,
            Some(_) => Self::OtherQos,
            None => Self::Yes,
        }
    }

    /// Matches endpoints of two processes.
    pub(crate) fn outside(offered: &End<'_>, asked: &End<'_>) -> Self {
        if !offered.origin.meets(asked.origin) {
            return Self::Apart;
        }
        if !offered.travels || !asked.travels {
            return Self::Never;
        }
        let same = offered.name == asked.name && offered.hash == asked.hash && offered.hash != [0; 32];
        Self::of(same, offered, asked)
    }

    /// Returns the reason why matching endpoints would not match if both belonged to Sinew: one
    /// belongs to a program that matches any QoS.
    pub(crate) fn tolerated(self, offered: &End<'_>, asked: &End<'_>) -> Option<Incompatibility> {
        match self {
            Self::Yes => offered.qos.incompatibility(asked.qos),
            _ => None,
        }
    }

    /// Returns the reason why they do not match.
    pub(crate) fn mismatch(self, offered: &End<'_>, asked: &End<'_>) -> Option<Mismatch> {
        self.mismatch_at(offered, asked, ENDS)
    }

    fn mismatch_at(self, offered: &End<'_>, asked: &End<'_>, ends: [&str; 2]) -> Option<Mismatch> {
        match self {
            Self::Yes | Self::Apart => None,
            Self::OtherType => {
                let is_one = offered.name == asked.name;
                let both = is_one.then(|| offered.description().zip(asked.description())).flatten();
                let difference = both.and_then(|(offered, asked)| offered.difference(&asked, ends));
                let difference = difference.map(|difference| (offered.name.to_owned(), difference));
                let (offered, asked) = (offered.describe_type(asked), asked.describe_type(offered));
                Some(Mismatch::Type { offered, asked, difference })
            }
            Self::OtherQos => offered.qos.incompatibility(asked.qos).map(Mismatch::Qos),
            Self::Never => {
                let inside = if offered.travels { asked } else { offered };
                Some(Mismatch::StaysInside { type_name: inside.name.to_owned() })
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Duration;

    fn entity(kind: EndpointKind, type_name: &str, hash: u8, qos: QoS, travels: bool) -> Endpoint {
        Endpoint {
            kind,
            number: 1,
            node: "/node".into(),
            name: "/x".into(),
            type_name: type_name.into(),
            hash: [hash; 32],
            qos: qos.to_bytes(travels),
        }
    }

    fn publisher(type_name: &str, hash: u8, qos: QoS, travels: bool) -> Endpoint {
        entity(EndpointKind::Publisher, type_name, hash, qos, travels)
    }

    fn subscription(type_name: &str, hash: u8, qos: QoS, travels: bool) -> Endpoint {
        entity(EndpointKind::Subscription, type_name, hash, qos, travels)
    }

    #[test]
    fn a_pair_says_what_keeps_it_apart() {
        let plain = QoS::new();
        let strict = plain.transient_local().deadline(Duration::from_millis(5));
        let text = |publisher: &Endpoint, subscription: &Endpoint, inside| {
            Mismatch::of_announced(publisher, subscription, inside, None).map(|mismatch| mismatch.to_string())
        };
        for inside in [true, false] {
            let offered = publisher("a/msg/A", 1, plain, true);
            assert_eq!(text(&offered, &subscription("a/msg/A", 1, plain, true), inside), None);
            assert_eq!(
                text(&offered, &subscription("a/msg/A", 1, strict, true), inside).as_deref(),
                Some(
                    "durability (offers volatile, asked transient_local), deadline (offers none, asked 5ms)"
                )
            );
            assert_eq!(
                text(&offered, &subscription("b/msg/B", 2, strict, true), inside).as_deref(),
                Some("type (offers a/msg/A, asked b/msg/B)")
            );
            let other = text(&offered, &subscription("a/msg/A", 2, plain, true), inside).unwrap();
            assert!(other.starts_with("type (offers a/msg/A RIHS01_0101"), "{other}");
            assert!(other.contains("asked a/msg/A RIHS01_0202"), "{other}");
        }
        let offered = publisher("robot::Inside", 0, plain, false);
        let asked = subscription("robot::Inside", 0, plain, false);
        assert_eq!(text(&offered, &asked, true), None);
        let outside = text(&offered, &asked, false).unwrap();
        assert!(outside.starts_with("type (robot::Inside stays in its process"), "{outside}");
    }

    fn tolerated(publisher: &Endpoint, subscription: &Endpoint) -> Option<Incompatibility> {
        let [offered, asked] =
            [publisher, subscription].map(|end| QoS::from_bytes(&end.qos).expect("it is valid"));
        let (offered, asked) = (End::of(publisher, &offered), End::of(subscription, &asked));
        Match::outside(&offered, &asked).tolerated(&offered, &asked)
    }

    #[test]
    fn programs_that_match_whatever_the_qos_is_are_kept_apart_by_types_alone() {
        let strict = QoS::new().transient_local().deadline(Duration::from_millis(5));
        let weak = QoS::new().best_effort();
        for origin in [Origin::AnyQosNetwork, Origin::AnyQosListed] {
            let mut offered = publisher("a/msg/A", 1, weak, true);
            let asked = subscription("a/msg/A", 1, strict, true);
            assert!(Mismatch::of_announced(&offered, &asked, false, None).is_some());
            origin.write_to(&mut offered.qos);
            assert_eq!(Mismatch::of_announced(&offered, &asked, false, None), None);
            assert!(tolerated(&offered, &asked).is_some());
            let other = subscription("b/msg/B", 2, strict, true);
            assert!(matches!(
                Mismatch::of_announced(&offered, &other, false, None),
                Some(Mismatch::Type { .. })
            ));
            assert_eq!(tolerated(&offered, &other), None);
        }
    }

    #[test]
    fn only_ends_of_one_topic_are_a_pair() {
        let offered = publisher("a/msg/A", 1, QoS::new(), true);
        let mut asked = subscription("b/msg/B", 2, QoS::new(), true);
        assert_eq!(Mismatch::of_announced(&asked, &offered, false, None), None);
        asked.qos = [0; 64];
        assert_eq!(Mismatch::of_announced(&offered, &asked, false, None), Some(Mismatch::Unreadable));
        asked.name = "/y".into();
        assert_eq!(Mismatch::of_announced(&offered, &asked, false, None), None);
    }
}
