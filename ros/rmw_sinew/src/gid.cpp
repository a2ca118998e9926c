#include "gid.hpp"

#include "rmw/rmw.h"

#include "check.hpp"
#include "client.hpp"
#include "publisher.hpp"

using namespace rmw_sinew; // of this file's functions, which are rmw's

extern "C" {

rmw_ret_t rmw_get_gid_for_publisher(const rmw_publisher_t * publisher, rmw_gid_t * gid)
{
  SINEW_CHECK_HANDLE(publisher);
  SINEW_CHECK_ARGUMENT(gid);
  return guarded([&] {
    sinew_gid own{};
    require(sinew_publisher_gid(static_cast<const Publisher *>(publisher->data)->get(), &own));
    *gid = gid_of(own);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_get_gid_for_client(const rmw_client_t * client, rmw_gid_t * gid)
{
  SINEW_CHECK_HANDLE(client);
  SINEW_CHECK_ARGUMENT(gid);
  return guarded([&] {
    sinew_gid own{};
    require(sinew_client_gid(entity_of<Client>(client->data).get(), &own));
    *gid = gid_of(own);
    return RMW_RET_OK;
  });
}

rmw_ret_t rmw_compare_gids_equal(const rmw_gid_t * gid1, const rmw_gid_t * gid2, bool * result)
{
  SINEW_CHECK_HANDLE(gid1);
  SINEW_CHECK_HANDLE(gid2);
  SINEW_CHECK_ARGUMENT(result);
  *result = std::memcmp(gid1->data, gid2->data, sizeof gid1->data) == 0;
  return RMW_RET_OK;
}

}  // extern "C"
