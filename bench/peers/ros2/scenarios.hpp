// The scenarios. Each returns the figures of a round, or throws a sentence. None may be called once
// this process has threads: some start other processes.
#pragma once

#include "case.hpp"

Figures chain(const Case & work, bool intra_process);
Figures process_chain(const Case & work);
Figures service_chain(const Case & work);
Figures pingpong(const Case & work);
Figures requests(const Case & work);
Figures big(const Case & work);
Figures entities(const Case & work);
Figures topology(const Case & work);

// For which the report has no scenario: `sinew-peer-ros2 figures NAME MIDDLEWARE`.

/// 100 default nodes in one process: time and memory to make one, CPU at rest.
Figures many_nodes();

/// 50 processes of 3 nodes each: until each process sees all nodes.
Figures discovery();

/// Mont Blanc, each node a process of its own.
Figures topology_over_processes(const std::string & name, double seconds);
