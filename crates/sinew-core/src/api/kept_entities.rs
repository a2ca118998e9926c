//! The entities without a handle that a node keeps.

use crate::executor::owner::Close;
use crate::mailbox::waiters::contain;
use crate::sys::sync::Mutex;
use std::mem;

/// The entities that a node keeps until its last handle is dropped.
#[derive(Default)]
pub(crate) struct KeptEntities(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The node's last handle was dropped, or the context has ended.
    is_over: bool,
    entities: Vec<Box<dyn Send>>,
}

impl KeptEntities {
    /// Keeps an entity. Returns whether it is the first one, and gives it back if it is too late.
    pub(super) fn keep(&self, entity: Box<dyn Send>) -> (bool, Option<Box<dyn Send>>) {
        let mut kept = self.0.lock();
        if kept.is_over {
            return (false, Some(entity));
        }
        kept.entities.push(entity);
        (kept.entities.len() == 1, None)
    }
}

impl Close for KeptEntities {
    fn close(&self) {
        let entities = {
            let mut kept = self.0.lock();
            kept.is_over = true;
            mem::take(&mut kept.entities)
        };
        // Each by itself, as a panic in what one callback has captured must not keep the others.
        for entity in entities {
            contain(|| drop(entity), || "dropping an entity in the background".to_owned());
        }
    }
}
