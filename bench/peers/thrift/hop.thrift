/** A call and its answer. */
struct Stamped {
  /** When the client called: CLOCK_MONOTONIC, in nanoseconds. */
  1: required i64 stamp
  /** Counts the client's calls. */
  2: required i64 number
}

service Hop {
  Stamped call(1: Stamped stamped)
}
