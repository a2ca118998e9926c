//! What an executor does about callbacks that fail.

/// What an executor does when a callback panics or returns an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultPolicy {
    /// Spinning stops and returns it. The default for panics: no one can know what state they left.
    Stop,
    /// It is reported with the entity's name, in the program's log or on standard error
    /// ([how](crate#what-sinew-says)), and the rest goes on. The default for errors.
    Report,
}
