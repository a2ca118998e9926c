#include "guard_condition.hpp"

#include "rmw/allocators.h"
#include "rmw/rmw.h"

#include "check.hpp"

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_guard_condition_t * rmw_create_guard_condition(rmw_context_t * context)
{
  SINEW_CHECK_HANDLE_OR_NULL(context);
  return guarded_pointer([&] {
    auto guard_condition = std::make_unique<GuardCondition>();
    rmw_guard_condition_t * handle = rmw_guard_condition_allocate();
    if (handle == nullptr) {
      throw std::bad_alloc();
    }
    handle->implementation_identifier = identifier;
    handle->context = context;
    handle->data = entity_data(guard_condition.release());
    return handle;
  });
}

rmw_ret_t rmw_destroy_guard_condition(rmw_guard_condition_t * guard_condition)
{
  SINEW_CHECK_HANDLE(guard_condition);
  delete &entity_of<GuardCondition>(guard_condition->data);
  rmw_guard_condition_free(guard_condition);
  return RMW_RET_OK;
}

rmw_ret_t rmw_trigger_guard_condition(const rmw_guard_condition_t * guard_condition)
{
  SINEW_CHECK_HANDLE(guard_condition);
  return guarded([&] {
    entity_of<GuardCondition>(guard_condition->data).trigger();
    return RMW_RET_OK;
  });
}

}  // extern "C"
