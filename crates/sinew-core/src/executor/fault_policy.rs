//! The reaction of an executor to callbacks that fail.

/// The reaction of an executor to a callback that panics or returns an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultPolicy {
    /// Spinning stops and returns the fault. The default for panics, which may leave any state
    /// behind.
    Stop,
    /// The executor reports the fault with the entity's name, in the program's log or on standard
    /// error ([how](crate#what-sinew-says)), and continues. The default for errors.
    Report,
}
