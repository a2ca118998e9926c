//! Entities are read from a record as they were stored.

use super::garbage::endpoint_record;
use crate::tables::control_segment::{self, TEXT};
use crate::tables::endpoint::{Endpoint, EndpointKind};
use proptest::prelude::*;

const KINDS: [EndpointKind; 7] = [
    EndpointKind::Node,
    EndpointKind::Publisher,
    EndpointKind::Subscription,
    EndpointKind::Server,
    EndpointKind::Client,
    EndpointKind::Raw,
    EndpointKind::Report,
];

prop_compose! {
    fn endpoint()(
        kind in 0..KINDS.len(),
        number: u64,
        node in "[a-z/_0-9]{0,255}",
        name in "[\\p{L}\\p{N} -~]{0,60}", // as others see it: printable characters only
        type_name in "[\\p{L}\\p{N} -~]{0,80}",
        hash: [u8; 32],
        qos in prop::array::uniform32(any::<u16>()),
    ) -> Endpoint {
        let mut bytes = [0; 64];
        bytes.as_chunks_mut::<2>().0.iter_mut().zip(qos).for_each(|(to, from)| *to = from.to_le_bytes());
        Endpoint { kind: KINDS[kind], number, node, name, type_name, hash, qos: bytes }
    }
}

proptest! {
    #[test]
    fn an_entity_comes_out_as_it_went_in(first in endpoint(), second in endpoint(), node: u32) {
        let record = endpoint_record(|| 0);
        for (generation, endpoint) in [(1, &first), (3, &second)] {
            endpoint.store(&record, node);
            prop_assert_eq!(control_segment::publish_generation(&record.generation), generation);
            let found = Endpoint::load(&record, "a file").unwrap();
            prop_assert_eq!(found, Some((generation, endpoint.clone())));
            control_segment::end_generation(&record.generation);
            control_segment::begin_generation();
            prop_assert_eq!(Endpoint::load(&record, "a file").unwrap(), None);
        }
    }

    /// Names that are too long are cut at a character boundary, without harm to anything else.
    #[test]
    fn too_long_a_text_is_cut(
        node in "[\\p{L}\\p{N} -~]{0,400}",
        name in "[\\p{L}\\p{N} -~]{0,400}",
        type_name in "[\\p{L}\\p{N} -~]{0,1000}",
    ) {
        let record = endpoint_record(|| 0);
        let endpoint = Endpoint {
            kind: EndpointKind::Node,
            number: 7,
            node,
            name,
            type_name,
            hash: [1; 32],
            qos: [2; 64],
        };
        endpoint.store(&record, 0);
        control_segment::publish_generation(&record.generation);
        let (_, found) = Endpoint::load(&record, "a file").unwrap().unwrap();
        let pairs = [(&endpoint.node, &found.node, 255), (&endpoint.name, &found.name, 255)];
        for (given, found, room) in pairs {
            prop_assert!(given.starts_with(found.as_str()));
            prop_assert!(found.len() == given.len() || (room - 3..=room).contains(&found.len()));
        }
        let room = TEXT - found.node.len() - found.name.len();
        prop_assert!(endpoint.type_name.starts_with(&found.type_name));
        prop_assert!(
            found.type_name.len() == endpoint.type_name.len() || (room - 3..=room).contains(&found.type_name.len())
        );
        prop_assert_eq!((found.number, found.hash, found.qos), (7, [1; 32], [2; 64]));
    }
}
