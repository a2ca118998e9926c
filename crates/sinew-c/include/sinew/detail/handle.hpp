/// Handles of the C interface as owners.
#ifndef SINEW_DETAIL_HANDLE_HPP
#define SINEW_DETAIL_HANDLE_HPP

#include <memory>

#include "sinew/sinew.h"

namespace sinew::detail
{

/// Frees a handle by its function.
template<auto free>
struct Free
{
  template<class T>
  void operator()(T * handle) const noexcept {free(handle);}
};

/// The owner of a handle: `Handle<sinew_node, sinew_node_free>`.
template<class T, auto free>
using Handle = std::unique_ptr<T, Free<free>>;

/// A place for the handle that a function of C makes: `sinew_node_new(.., Out(handle))`. As
/// `std::out_ptr` of C++23.
template<class T, auto free>
class Out
{
public:
  explicit Out(Handle<T, free> & owner) noexcept
  : owner_(owner) {}
  ~Out() {owner_.reset(made_);}
  Out(const Out &) = delete;
  Out & operator=(const Out &) = delete;

  operator T **() noexcept {return &made_;}  // NOLINT(runtime/explicit)

private:
  Handle<T, free> & owner_;
  T * made_ = nullptr;
};

template<class T, auto free>
Out(std::unique_ptr<T, Free<free>> &)->Out<T, free>;

/// Returns an options structure of C with its size: all else is zero, the default.
template<class T>
T options() noexcept
{
  T options{};
  options.size = sizeof(T);
  return options;
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_HANDLE_HPP
