//! The work of the second process of a floor.

use super::second::{Second, TwoProcessFloor};
use super::{handover, line2, peer, wake};
use crate::error::Error;
use crate::process::{Measuring, Work};

impl Work for Second {
    const ROLE: &'static str = "Floor";

    fn scenario(&self) -> &'static str {
        self.floor.name()
    }

    /// Runs the second process of a floor: serves until it is ended.
    fn play(&self, _: Measuring) -> Result<(), Error> {
        let shared = peer::join(self)?;
        match self.floor {
            TwoProcessFloor::Line2 => line2::serve(&shared),
            TwoProcessFloor::Handover => handover::serve(&shared),
            TwoProcessFloor::Wake => wake::serve(&shared),
        }
    }
}
