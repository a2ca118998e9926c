/// Handles of the C interface as owners.
#ifndef SINEW_DETAIL_HANDLE_HPP
#define SINEW_DETAIL_HANDLE_HPP

#include <cstddef>
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

/// The owner of a handle: `Handle<sinew_node, sinew_node_free>`. As a `std::unique_ptr`, for each
/// of which a compiler would make dozens of functions.
template<class T, auto free>
class Handle
{
public:
  Handle(std::nullptr_t = nullptr) noexcept {}  // NOLINT(runtime/explicit)
  explicit Handle(T * handle) noexcept
  : handle_(handle) {}
  Handle(Handle && other) noexcept
  : handle_(other.release()) {}
  Handle & operator=(Handle && other) noexcept
  {
    reset(other.release());
    return *this;
  }
  ~Handle() {reset();}

  T * get() const noexcept {return handle_;}
  explicit operator bool() const noexcept {return handle_ != nullptr;}

  /// Gives the handle away.
  T * release() noexcept
  {
    T * const handle = handle_;
    handle_ = nullptr;
    return handle;
  }

  /// Frees the handle, and takes over another one.
  void reset(T * handle = nullptr) noexcept
  {
    T * const old = handle_;
    handle_ = handle;
    if (old != nullptr) {
      free(old);
    }
  }

  /// Gives the handle to owners that share it.
  operator std::shared_ptr<T>() &&  // NOLINT(runtime/explicit)
  {
    return std::shared_ptr<T>(release(), Free<free>());
  }

  friend bool operator==(const Handle & one, std::nullptr_t) noexcept {return !one;}
  friend bool operator!=(const Handle & one, std::nullptr_t) noexcept {return bool(one);}

private:
  T * handle_ = nullptr;
};

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
Out(Handle<T, free> &)->Out<T, free>;

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
