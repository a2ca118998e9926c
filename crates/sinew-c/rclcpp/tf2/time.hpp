#include "sinew/tf2/time.hpp"
