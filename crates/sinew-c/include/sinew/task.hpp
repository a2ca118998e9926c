/// Coroutines: tasks that wait for services without blocking a thread. C++20.
#ifndef SINEW_TASK_HPP
#define SINEW_TASK_HPP

#if defined(__cpp_impl_coroutine) && defined(__has_include)
#if __has_include(<coroutine>)
/// Whether there are coroutines.
#define SINEW_HAS_COROUTINES 1
#endif
#endif

#ifdef SINEW_HAS_COROUTINES

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "sinew/detail/callback.hpp"
#include "sinew/detail/handle.hpp"
#include "sinew/error.hpp"
#include "sinew/sinew.h"

namespace sinew
{

template<class T>
class Task;

namespace detail
{

/// The exception that has left the task that this thread resumes.
inline std::exception_ptr & escaped_exception() noexcept
{
  thread_local std::exception_ptr escaped;
  return escaped;
}

/// Resumes a coroutine. Throws the exception that leaves its task.
inline void resume(std::coroutine_handle<> handle)
{
  auto & escaped = escaped_exception();
  auto outer = std::exchange(escaped, nullptr);
  handle.resume();
  const auto exception = std::exchange(escaped, std::move(outer));
#ifdef __cpp_exceptions
  if (exception) {
    std::rethrow_exception(exception);
  }
#else
  (void)exception;
#endif
}

/// What the promises of tasks have in common.
class TaskPromise
{
public:
  /// Resumes the one that waits for the task.
  struct Final
  {
    bool await_ready() const noexcept {return false;}
    template<class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> ended) const noexcept
    {
      return ended.promise().waiting_;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept {return {};}
  Final final_suspend() const noexcept {return {};}

  /// Sets who waits for the task.
  template<class P>
  void set_waiting(std::coroutine_handle<P> waiting) noexcept
  {
    waiting_ = waiting;
    root_ = root_of(waiting);
  }

  /// Returns the first of the tasks that wait for each other, which owns the others: null if that
  /// is a coroutine of another library.
  template<class P>
  static std::coroutine_handle<> root_of(std::coroutine_handle<P> waiting) noexcept
  {
    if constexpr (std::is_base_of_v<TaskPromise, P>) {
      return waiting.promise().root_;
    } else {
      return nullptr;
    }
  }

protected:
  std::coroutine_handle<> waiting_;
  std::coroutine_handle<> root_;
};

template<class T>
class TaskPromiseOf : public TaskPromise
{
public:
  Task<T> get_return_object() noexcept;

  template<class U>
  void return_value(U && value) {outcome_.template emplace<1>(std::forward<U>(value));}
  void unhandled_exception() noexcept {outcome_.template emplace<2>(std::current_exception());}

  T take()
  {
#ifdef __cpp_exceptions
    if (auto * exception = std::get_if<2>(&outcome_)) {
      std::rethrow_exception(std::move(*exception));
    }
#endif
    return std::move(*std::get_if<1>(&outcome_));
  }

private:
  std::variant<std::monostate, T, std::exception_ptr> outcome_;
};

template<>
class TaskPromiseOf<void> : public TaskPromise
{
public:
  Task<void> get_return_object() noexcept;

  void return_void() const noexcept {}
  void unhandled_exception() noexcept {exception_ = std::current_exception();}

  void take()
  {
#ifdef __cpp_exceptions
    if (exception_) {
      std::rethrow_exception(std::exchange(exception_, nullptr));
    }
#endif
  }

private:
  std::exception_ptr exception_;
};

}  // namespace detail

/// A coroutine that begins when it is awaited or spawned: `node->spawn(drive(client))`.
///
///     sinew::Task<int> add(sinew::Client<AddTwoInts> & client, int a, int b)
///     {
///       auto request = std::make_unique<AddTwoInts::Request>();
///       request->a = a;
///       request->b = b;
///       const auto response = co_await client.call_async(std::move(request));
///       co_return response->sum;
///     }
///
/// An exception reaches the task that awaits; one that leaves a spawned task comes out of the spin
/// that resumed it. A task that waits for what ends without an answer is destroyed, with all tasks
/// that wait for it.
template<class T = void>
class [[nodiscard]] Task
{
public:
  using promise_type = detail::TaskPromiseOf<T>;

  explicit Task(std::coroutine_handle<promise_type> handle) noexcept
  : handle_(handle) {}
  Task(Task && other) noexcept
  : handle_(std::exchange(other.handle_, nullptr)) {}
  Task & operator=(Task && other) noexcept
  {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task()
  {
    if (handle_) {
      handle_.destroy();
    }
  }

  /// Runs the task, then the coroutine that waits for it.
  auto operator co_await() const noexcept {return Awaiter{handle_};}

private:
  struct Awaiter
  {
    std::coroutine_handle<promise_type> task;

    bool await_ready() const noexcept {return false;}
    template<class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> waiting) const noexcept
    {
      task.promise().set_waiting(waiting);
      return task;
    }
    T await_resume() const {return task.promise().take();}
  };

  std::coroutine_handle<promise_type> handle_;
};

namespace detail
{

template<class T>
Task<T> TaskPromiseOf<T>::get_return_object() noexcept
{
  return Task<T>(std::coroutine_handle<TaskPromiseOf>::from_promise(*this));
}

inline Task<void> TaskPromiseOf<void>::get_return_object() noexcept
{
  return Task<void>(std::coroutine_handle<TaskPromiseOf>::from_promise(*this));
}

/// The coroutine around a spawned task: it owns itself once it runs.
struct SpawnedTask
{
  struct promise_type : TaskPromise
  {
    SpawnedTask get_return_object() noexcept
    {
      root_ = std::coroutine_handle<promise_type>::from_promise(*this);
      return {root_};
    }
    std::suspend_never final_suspend() const noexcept {return {};}
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {escaped_exception() = std::current_exception();}
  };

  std::coroutine_handle<> handle;
};

inline SpawnedTask run_to_end(Task<void> task) {co_await task;}

/// The beginning of a spawned task, as work of an executor.
class SpawnWork
{
public:
  explicit SpawnWork(Task<void> task)
  : handle_(run_to_end(std::move(task)).handle) {}
  SpawnWork(SpawnWork && other) noexcept
  : handle_(std::exchange(other.handle_, nullptr)) {}
  SpawnWork & operator=(SpawnWork &&) = delete;
  ~SpawnWork()
  {
    if (handle_) {
      handle_.destroy();
    }
  }

  static sinew_status run(void * context)
  {
    auto & self = *static_cast<SpawnWork *>(context);
    return guarded([&self] {resume(std::exchange(self.handle_, nullptr));});
  }

private:
  std::coroutine_handle<> handle_;
};

/// Has the executor of a node or group begin a task.
template<class Post, class Place>
Result<void> try_spawn(Post post, const Place * place, Task<void> task)
{
  return result(
    post(place, SpawnWork::run, context_of(SpawnWork(std::move(task))), drop_context<SpawnWork>));
}

/// A coroutine that waits for the outcome of a call.
template<class Outcome>
class Waiting
{
public:
  template<class P>
  Waiting(std::coroutine_handle<P> handle, std::optional<Outcome> & outcome)
  : handle_(handle), root_(TaskPromise::root_of(handle)), outcome_(outcome) {}

  /// Ends the wait: there is an outcome.
  void end(Outcome outcome)
  {
    outcome_.emplace(std::move(outcome));
    phase_ = Phase::ENDED;
    resume(handle_);
  }

  /// The request was sent: from here on there is an outcome, or the wait is in vain.
  void sent()
  {
    auto expected = Phase::SENDING;
    if (!phase_.compare_exchange_strong(expected, Phase::SENT) && expected == Phase::IN_VAIN) {
      destroy();
    }
  }

  /// There will be no outcome. If the request was not even sent, its sender has the reason.
  void in_vain()
  {
    auto expected = Phase::SENDING;
    if (!phase_.compare_exchange_strong(expected, Phase::IN_VAIN) && expected == Phase::SENT) {
      destroy();
    }
  }

private:
  enum class Phase {SENDING, SENT, ENDED, IN_VAIN};

  void destroy()
  {
    if (root_) {
      root_.destroy();
    }
  }

  std::coroutine_handle<> handle_;
  std::coroutine_handle<> root_;
  /// In the coroutine that waits.
  std::optional<Outcome> & outcome_;
  std::atomic<Phase> phase_{Phase::SENDING};
};

/// Ends a wait by the callback of a call. One that is dropped was in vain.
template<class Outcome>
class WaitEnd
{
public:
  explicit WaitEnd(std::shared_ptr<Waiting<Outcome>> waiting)
  : waiting_(std::move(waiting)) {}
  WaitEnd(WaitEnd &&) noexcept = default;
  WaitEnd & operator=(WaitEnd &&) = delete;
  ~WaitEnd()
  {
    if (waiting_) {
      waiting_->in_vain();
    }
  }

  void operator()(Outcome outcome)
  {
    const auto waiting = std::move(waiting_);
    waiting->end(std::move(outcome));
  }

private:
  std::shared_ptr<Waiting<Outcome>> waiting_;
};

/// Sends a request when it is awaited.
template<class Client, bool throws>
class CallAwaiter
{
  using Outcome = Result<typename Client::SharedResponse>;

public:
  template<class Message>
  CallAwaiter(Client & client, Result<Message> request)
  : client_(client)
  {
    if (request) {
      request_ = (*std::move(request)).release();
    } else {
      outcome_.emplace(request.error());
    }
  }
  CallAwaiter(const CallAwaiter &) = delete;
  CallAwaiter & operator=(const CallAwaiter &) = delete;
  ~CallAwaiter() {sinew_message_free(request_);}

  bool await_ready() const noexcept {return outcome_.has_value();}

  template<class P>
  bool await_suspend(std::coroutine_handle<P> waiting)
  {
    // Another thread may resume and end the coroutine, with this object, before the send returns.
    const auto wait = std::make_shared<Waiting<Outcome>>(waiting, outcome_);
    const auto sent = client_.try_send_message(
      Handle<sinew_message, sinew_message_free>(std::exchange(request_, nullptr)),
      WaitEnd<Outcome>(wait));
    if (!sent) {
      outcome_.emplace(sent.error());
      return false;
    }
    wait->sent();
    return true;
  }

  auto await_resume()
  {
    if constexpr (throws) {
      return (*std::move(outcome_)).value();
    } else {
      return *std::move(outcome_);
    }
  }

private:
  Client & client_;
  sinew_message * request_ = nullptr;
  std::optional<Outcome> outcome_;
};

}  // namespace detail

}  // namespace sinew

#endif  // SINEW_HAS_COROUTINES

#endif  // SINEW_TASK_HPP
