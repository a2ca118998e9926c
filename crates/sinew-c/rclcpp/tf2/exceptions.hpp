#include "sinew/tf2/exceptions.hpp"
