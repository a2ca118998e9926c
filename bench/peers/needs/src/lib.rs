//! What a robot needs and a peer leaves out, where that peer is faster than Sinew: the report names
//! the test beside the row. The tests are in `tests/needs.rs`.
