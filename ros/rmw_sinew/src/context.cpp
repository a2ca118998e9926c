#include "context.hpp"

#include <cstdint>
#include <limits>
#include <memory>

#include "rmw/discovery_options.h"
#include "rmw/domain_id.h"
#include "rmw/init_options.h"
#include "rmw/rmw.h"

#include "check.hpp"

using namespace rmw_sinew; // of this file's functions, which are rmw's

namespace {

/// Refuses what Sinew can't give.
void check_options(const rmw_init_options_t & options)
{
  if (options.security_options.enforce_security == RMW_SECURITY_ENFORCEMENT_ENFORCE) {
    throw Failure{fail(
        RMW_RET_UNSUPPORTED,
        "rmw_sinew has no SROS 2: access is that of the directory in shared memory; unset "
        "ROS_SECURITY_ENABLE, or set ROS_SECURITY_STRATEGY to something else than Enforce")};
  }
}

sinew_context_options sinew_options(const rmw_init_options_t & options, std::size_t domain)
{
  sinew_context_options made{};
  made.size = sizeof made;
  made.has_domain = true;
  made.domain = static_cast<std::uint32_t>(domain);
  // With discovery off only nodes of this process meet. Every other range is this host; a gateway
  // to its network is a program of its own.
  const bool off = options.discovery_options.automatic_discovery_range ==
    RMW_AUTOMATIC_DISCOVERY_RANGE_OFF;
  made.shared_memory = off ? SINEW_NO : SINEW_YES;
  made.interrupts = SINEW_NO; // signals are rcl's
  made.use_sim_time = SINEW_NO;
  made.hints_after = -1;
  return made;
}

std::size_t domain_of(const rmw_init_options_t & options)
{
  if (options.domain_id == RMW_DEFAULT_DOMAIN_ID) {
    return 0;
  }
  if (options.domain_id > std::numeric_limits<std::uint32_t>::max()) {
    throw Failure{fail(RMW_RET_INVALID_ARGUMENT, "the domain id is above 4294967295")};
  }
  return options.domain_id;
}

rmw_ret_t init(const rmw_init_options_t & options, rmw_context_t & context)
{
  check_options(options);
  rmw_context_t made = rmw_get_zero_initialized_context();
  made.instance_id = options.instance_id;
  made.implementation_identifier = identifier;
  made.actual_domain_id = domain_of(options);
  auto impl = std::make_unique<rmw_context_impl_s>();
  impl->options = sinew_options(options, made.actual_domain_id);
  require(sinew_context_new(&impl->options, &impl->context));
  const rmw_ret_t ret = rmw_init_options_copy(&options, &made.options);
  if (ret != RMW_RET_OK) {
    return ret;
  }
  made.impl = impl.release();
  context = made;
  return RMW_RET_OK;
}

}  // namespace

extern "C" {

rmw_ret_t rmw_init(const rmw_init_options_t * options, rmw_context_t * context)
{
  SINEW_CHECK_ARGUMENT(options);
  SINEW_CHECK_ARGUMENT(context);
  SINEW_CHECK_NOT_NULL(options->implementation_identifier, RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_OURS(options, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  SINEW_CHECK_NOT_NULL(options->enclave, RMW_RET_INVALID_ARGUMENT);
  if (context->implementation_identifier != nullptr) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the context is initialized already");
  }
  return guarded([&] {return init(*options, *context);});
}

rmw_ret_t rmw_shutdown(rmw_context_t * context)
{
  SINEW_CHECK_ARGUMENT(context);
  SINEW_CHECK_NOT_NULL(context->impl, RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_OURS(context, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  // Sinew's context stays up until everything of it is gone: rcl and client libraries go on to use
  // and destroy nodes and endpoints after this, and expect them to work.
  context->impl->shutdown->notify(1);
  return RMW_RET_OK;
}

rmw_ret_t rmw_context_fini(rmw_context_t * context)
{
  SINEW_CHECK_ARGUMENT(context);
  SINEW_CHECK_NOT_NULL(context->impl, RMW_RET_INVALID_ARGUMENT);
  SINEW_CHECK_OURS(context, RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
  if (!context->impl->shutdown->is_ready()) {
    return fail(RMW_RET_INVALID_ARGUMENT, "the context is not shut down");
  }
  const rmw_ret_t ret = rmw_init_options_fini(&context->options);
  delete context->impl;
  *context = rmw_get_zero_initialized_context();
  return ret;
}

}  // extern "C"
