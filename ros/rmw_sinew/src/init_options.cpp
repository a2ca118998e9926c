#include "rmw/init_options.h"

#include "rmw/discovery_options.h"
#include "rmw/domain_id.h"
#include "rmw/security_options.h"
#include "rcutils/strdup.h"

#include "check.hpp"

using namespace rmw_sinew; // of this file's functions, which are rmw's

namespace {

/// Copies what needs memory of its own; `target` is zero. Frees nothing after a failure.
rmw_ret_t copy_owned(const rmw_init_options_t & source, rmw_init_options_t & target)
{
  const rcutils_allocator_t & allocator = source.allocator;
  if (source.enclave != nullptr) {
    target.enclave = rcutils_strdup(source.enclave, allocator);
    if (target.enclave == nullptr) {
      return fail(RMW_RET_BAD_ALLOC, "no memory for the enclave's name");
    }
  }
  rmw_ret_t ret =
    rmw_security_options_copy(&source.security_options, &allocator, &target.security_options);
  if (ret != RMW_RET_OK) {
    return ret;
  }
  rcutils_allocator_t copied = allocator;
  return rmw_discovery_options_copy(
    &source.discovery_options, &copied, &target.discovery_options);
}

rmw_ret_t free_owned(rmw_init_options_t & options)
{
  const rcutils_allocator_t allocator = options.allocator;
  if (options.enclave != nullptr) {
    allocator.deallocate(options.enclave, allocator.state);
  }
  rmw_ret_t ret = rmw_security_options_fini(&options.security_options, &allocator);
  const rmw_ret_t other = rmw_discovery_options_fini(&options.discovery_options);
  return ret != RMW_RET_OK ? ret : other;
}

}  // namespace

extern "C" {

rmw_ret_t rmw_init_options_init(rmw_init_options_t * init_options, rcutils_allocator_t allocator)
{
  SINEW_CHECK_ARGUMENT(init_options);
  RCUTILS_CHECK_ALLOCATOR_WITH_MSG(
    &allocator, "the allocator is invalid", return RMW_RET_INVALID_ARGUMENT);
  if (init_options->implementation_identifier != nullptr) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the init options are initialized already");
  }
  *init_options = rmw_get_zero_initialized_init_options();
  init_options->implementation_identifier = identifier;
  init_options->allocator = allocator;
  init_options->domain_id = RMW_DEFAULT_DOMAIN_ID;
  init_options->security_options = rmw_get_default_security_options();
  init_options->discovery_options = rmw_get_zero_initialized_discovery_options();
  return rmw_discovery_options_init(&init_options->discovery_options, 0, &allocator);
}

rmw_ret_t rmw_init_options_copy(const rmw_init_options_t * src, rmw_init_options_t * dst)
{
  SINEW_CHECK_ARGUMENT(src);
  SINEW_CHECK_ARGUMENT(dst);
  SINEW_CHECK_NOT_NULL(src->implementation_identifier, RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_OURS(src, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  if (dst->implementation_identifier != nullptr) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the target of the copy is initialized already");
  }
  RCUTILS_CHECK_ALLOCATOR_WITH_MSG(
    &src->allocator, "the allocator is invalid", return RMW_RET_INVALID_ARGUMENT);
  rmw_init_options_t copy = *src;
  copy.enclave = nullptr;
  copy.security_options = rmw_get_zero_initialized_security_options();
  copy.discovery_options = rmw_get_zero_initialized_discovery_options();
  const rmw_ret_t ret = copy_owned(*src, copy);
  if (ret != RMW_RET_OK) {
    (void)free_owned(copy);
    return explained(ret);
  }
  *dst = copy;
  return RMW_RET_OK;
}

rmw_ret_t rmw_init_options_fini(rmw_init_options_t * init_options)
{
  SINEW_CHECK_ARGUMENT(init_options);
  SINEW_CHECK_NOT_NULL(init_options->implementation_identifier, RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_OURS(init_options, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  RCUTILS_CHECK_ALLOCATOR_WITH_MSG(
    &init_options->allocator, "the allocator is invalid", return RMW_RET_INVALID_ARGUMENT);
  const rmw_ret_t ret = free_owned(*init_options);
  *init_options = rmw_get_zero_initialized_init_options();
  return ret;
}

}  // extern "C"
