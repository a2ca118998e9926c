//! Entities come out of a record as they went in.

use super::garbage::entity_record;
use crate::control::{self, TEXT};
use crate::endpoint::{Endpoint, EndpointKind};
use proptest::prelude::*;

const KINDS: [EndpointKind; 6] = [
    EndpointKind::Node,
    EndpointKind::Publisher,
    EndpointKind::Subscription,
    EndpointKind::Server,
    EndpointKind::Client,
    EndpointKind::Raw,
];

prop_compose! {
    fn entity()(
        kind in 0..6usize,
        number: u64,
        node in "[a-z/_0-9]{0,255}",
        name in "\\PC{0,60}",
        type_name in "\\PC{0,80}",
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
    fn an_entity_comes_out_as_it_went_in(first in entity(), second in entity(), node: u32) {
        let record = entity_record(|| 0);
        for (life, entity) in [(1, &first), (3, &second)] {
            entity.store(&record, node);
            prop_assert_eq!(control::publish_life(&record.life), life);
            let found = Endpoint::load(&record, "a file").unwrap();
            prop_assert_eq!(found, Some((life, entity.clone())));
            control::end_life(&record.life);
            control::begin_life();
            prop_assert_eq!(Endpoint::load(&record, "a file").unwrap(), None);
        }
    }

    /// Longer names than there is room for are cut, at a letter's end, and nothing else is harmed.
    #[test]
    fn too_long_a_text_is_cut(node in "\\PC{0,400}", name in "\\PC{0,400}", type_name in "\\PC{0,1000}") {
        let record = entity_record(|| 0);
        let entity = Endpoint {
            kind: EndpointKind::Node,
            number: 7,
            node,
            name,
            type_name,
            hash: [1; 32],
            qos: [2; 64],
        };
        entity.store(&record, 0);
        control::publish_life(&record.life);
        let (_, found) = Endpoint::load(&record, "a file").unwrap().unwrap();
        let pairs = [(&entity.node, &found.node, 255), (&entity.name, &found.name, 255)];
        for (given, found, room) in pairs {
            prop_assert!(given.starts_with(found.as_str()));
            prop_assert!(found.len() == given.len() || (room - 3..=room).contains(&found.len()));
        }
        let room = TEXT - found.node.len() - found.name.len();
        prop_assert!(entity.type_name.starts_with(&found.type_name));
        prop_assert!(
            found.type_name.len() == entity.type_name.len() || (room - 3..=room).contains(&found.type_name.len())
        );
        prop_assert_eq!((found.number, found.hash, found.qos), (7, [1; 32], [2; 64]));
    }
}
