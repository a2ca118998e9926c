//! How images of other processes become messages.

use crate::delivery::inbox::Inbox;
use crate::message::Check;
use crate::message::block::{Erased, Pool};
use crate::message::foreign::Keep;
use crate::message::table::Table;
use crate::sync::Arc;
use sinew_msg::DecodeError;
use sinew_shm::Hold;
use std::ptr::NonNull;

/// Blocks for messages that came from outside.
const POOL_CAPACITY: usize = 64;

/// Makes messages of images, for subscriptions that take them in the same way.
pub(super) struct Reader {
    table: &'static Table,
    pub(super) values: Arc<Pool>,
    in_place: InPlace,
}

/// Whether messages are read where they lie.
enum InPlace {
    /// They are decoded.
    No,
    /// A plain type: its values are its images. Control blocks for them.
    Values(Arc<Pool>),
    /// Views are taken. Control blocks for images.
    Images(Check, Arc<Pool>),
}

impl Reader {
    pub(super) fn for_inbox(inbox: &Inbox) -> Self {
        let table = inbox.wanted.table;
        let in_place = match inbox.wanted.check {
            Some(check) => InPlace::Images(check, Pool::for_images(table, POOL_CAPACITY)),
            None if table.is_plain() => InPlace::Values(Pool::for_foreign(table, POOL_CAPACITY)),
            None => InPlace::No,
        };
        Self { table, values: Pool::of_table(table, POOL_CAPACITY), in_place }
    }

    /// Whether its messages are what this subscription takes.
    pub(super) fn suits(&self, inbox: &Inbox) -> bool {
        let takes_images = matches!(self.in_place, InPlace::Images(..));
        self.table.representation == inbox.wanted.table.representation
            && takes_images == inbox.wanted.check.is_some()
    }

    pub(super) fn reads_in_place(&self) -> bool {
        !matches!(self.in_place, InPlace::No)
    }

    /// The message in an image that is held: where it lies, if it can be read there.
    pub(super) fn read(&self, hold: Hold) -> Result<Erased, DecodeError> {
        let image = hold.bytes();
        match &self.in_place {
            InPlace::Images(Check(check), pool) => {
                check(image)?;
                return Ok(Erased::image_kept_by(pool, Keep::Hold(hold)));
            }
            InPlace::Values(pool) => {
                let layout = self.table.layout;
                if image.len() == layout.size() + 4 && image.starts_with(&[0, 1]) {
                    let value = NonNull::from(&image[4..]).cast::<u8>();
                    if value.addr().get().is_multiple_of(layout.align()) {
                        // SAFETY: a plain type: any bytes of its length, aligned, are a value (`is_plain`); the hold keeps them.
                        return Ok(unsafe { Erased::foreign(pool, Keep::Hold(hold), value) });
                    }
                }
            }
            InPlace::No => {}
        }
        self.decode(image)
    }

    /// The message in an image that is the caller's: decoded, or copied.
    pub(super) fn decode(&self, image: &[u8]) -> Result<Erased, DecodeError> {
        let InPlace::Images(Check(check), pool) = &self.in_place else {
            return Erased::decode(&self.values, image);
        };
        check(image)?;
        let mut message = Erased::own_image(pool, image.len());
        if let Some(to) = message.image_mut() {
            to.copy_from_slice(image);
        }
        Ok(message)
    }
}
