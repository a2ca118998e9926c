#include "sinew/tf2/linear_math.hpp"
