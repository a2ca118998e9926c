#include "sinew/tf2/convert.hpp"
