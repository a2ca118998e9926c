// What rmw_sinew needs to know of ROS 2, in one header: a test has every header of ROS 2 that a
// source names include this one.
#ifndef STUB_H
#define STUB_H

#include "fastcdr.h"
#include "rcutils.h"
#include "rmw.h"

#endif
