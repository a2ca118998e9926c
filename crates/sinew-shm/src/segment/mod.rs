//! Segments, the files that processes share, and the directory that they lie in. The code here
//! creates, maps and removes files, and finds out whether their owners live; other rooms define
//! the contents.
//!
//! A segment is created without a name, reserved, filled, locked, and only then linked into the
//! directory: no participant ever sees a partial one. Its mode prevents all processes, even of the
//! same user, from opening it for writing. Its creator keeps its own descriptor, without a lock, to
//! reserve more of it.
//!
//! # What may be touched
//!
//! A file has holes, and touching a page of a hole while the file system is full raises a signal.
//! So `reserved` words say how far the file may be touched; a participant that reads a greater
//! value than before compares it with the space that the file system has allocated for the file. If
//! a peer declares too much, the last checked value counts. The value of a data segment may
//! decrease, and increase again later (M1 to M3 of [`memory`](crate::memory)); the part that a
//! reader uses is never given back.
//!
//! # The lock
//!
//! A write lock on byte 0 of the control segment shows that its owner lives. It belongs to the open
//! file description through which the segment is mapped, after its descriptor is closed: so it
//! lives as long as the mapping, and the kernel releases it with the owner's address space. It is
//! taken before the segment gets its name. A forked child doesn't have the mapping
//! ([`fork`](crate::platform::fork)), so it doesn't keep the lock. Other participants query the
//! lock, and never take it.
//!
//! The file's name doesn't show whether its owner lives: other programs may remove it, such as a
//! clean-up script or the session manager at logout. So a participant that has mapped a control
//! segment queries the lock through the descriptor that it was mapped by, which it keeps. Only a
//! segment that isn't mapped is queried by name.
//!
//! | file | contents |
//! |---|---|
//! | `domain` | a domain's directory, where its participants find each other |
//! | `directory` | an open directory, safe against users who rename its entries |
//! | `file_system` | the medium that holds files: memory or a disk |
//! | `location_warnings` | drawbacks of a domain's place |
//! | `header` | the head of every segment, and the names of the files |
//! | `own_segment` | segments of this process |
//! | `peer_segment` | segments of other participants |
//! | `owner_state` | whether a segment's owner lives |
//! | `slab` | segments of equal chunks, for large messages |
//! | `descriptions` | descriptions of types, stored beside the domains |

pub(crate) mod descriptions;
pub(crate) mod directory;
pub(crate) mod domain;
pub(crate) mod file_system;
pub(crate) mod header;
pub(crate) mod location_warnings;
pub(crate) mod own_segment;
pub(crate) mod owner_state;
pub(crate) mod peer_segment;
pub(crate) mod slab;
