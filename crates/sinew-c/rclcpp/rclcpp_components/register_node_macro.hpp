#include "sinew/component.hpp"
