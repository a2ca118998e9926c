// The version of rmw for which this is compiled; CMakeLists.txt defines its numbers.
#pragma once

/// Whether rmw has at least this version: Jazzy 7.3, Kilted 7.8, Lyrical 7.10.
#define RMW_VERSION_GTE(major, minor, patch) \
  (RMW_VERSION_MAJOR > (major) || (RMW_VERSION_MAJOR == (major) && \
  (RMW_VERSION_MINOR > (minor) || (RMW_VERSION_MINOR == (minor) && \
  RMW_VERSION_PATCH >= (patch)))))
