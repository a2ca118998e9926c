//! What the second process of a floor does.

use super::second::{Second, TwoProcessFloor};
use super::shared::Shared;
use super::{handover, line2, wake};
use crate::error::Error;
use crate::machine;
use crate::process::{Measuring, Work};

impl Work for Second {
    /// Maps the memory, goes to its core, notifies the measuring process, and serves until it is
    /// ended.
    fn play(&self, _: Measuring) -> Result<(), Error> {
        let shared = Shared::map(std::io::stdin(), self.size)?;
        machine::pin_to(self.core)?;
        shared.board().back.flag.raise(1, 0);
        match self.floor {
            TwoProcessFloor::Line2 => line2::serve(&shared),
            TwoProcessFloor::Handover => handover::serve(&shared),
            TwoProcessFloor::Wake => wake::serve(&shared),
        }
    }
}
