#include "identifier.hpp"

#include "rmw/rmw.h"

namespace rmw_sinew {

const char identifier[] = "rmw_sinew";

}  // namespace rmw_sinew

extern "C" {

const char * rmw_get_implementation_identifier(void)
{
  return rmw_sinew::identifier;
}

const char * rmw_get_serialization_format(void)
{
  return "cdr";
}

}  // extern "C"
