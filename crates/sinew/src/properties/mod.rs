//! Property tests with oracles.
