#include "names.hpp"

#include <rmw/validate_full_topic_name.h>

#include <cstddef>
#include <string>

#include "check.hpp"

namespace rmw_sinew {

void require_full_name(const char * name, const rmw_qos_profile_t & profile)
{
  if (*name == '\0') {
    throw Failure{fail(RMW_RET_INVALID_ARGUMENT, "the name is empty")};
  }
  if (profile.avoid_ros_namespace_conventions) {
    return;
  }
  require_full_name(name);
}

void require_full_name(const char * name)
{
  int verdict = RMW_TOPIC_VALID;
  std::size_t at = 0;
  const rmw_ret_t ret = rmw_validate_full_topic_name(name, &verdict, &at);
  if (ret != RMW_RET_OK) {
    throw Failure{ret};
  }
  if (verdict != RMW_TOPIC_VALID) {
    const std::string sentence = std::string("the name `") + name + "` is invalid at character " +
      std::to_string(at) + ": " + rmw_full_topic_name_validation_result_string(verdict);
    throw Failure{fail(RMW_RET_INVALID_ARGUMENT, sentence.c_str())};
  }
}

}  // namespace rmw_sinew
