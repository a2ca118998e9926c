// Runs callbacks in tests of topics.
#ifndef RUNNER_HPP
#define RUNNER_HPP

#include "check.hpp"
#include "sinew/sinew.hpp"

/// An executor for a node. A callback that fails ends the run with its exception.
class Runner
{
public:
  explicit Runner(const sinew::Node & node)
  {
    auto settings = sinew::detail::options<sinew_executor_options>();
    settings.on_error = SINEW_FAULT_STOP;
    sinew::detail::check(sinew_executor_new(&settings, sinew::detail::Out(executor_)));
    sinew::detail::check(sinew_executor_add_node(executor_.get(), node.handle()));
  }

  /// Runs what is ready.
  void run()
  {
    sinew::detail::check_spin(sinew_executor_spin_some(executor_.get(), nullptr));
  }

  /// Runs callbacks, and waits for them, until the condition holds.
  template<class Condition>
  void run_until(Condition condition)
  {
    while (!condition()) {
      bool ran = false;
      const auto status = sinew_executor_spin_once(executor_.get(), 30'000'000'000, &ran);
      sinew::detail::check_spin(status);
      CHECK(ran);
    }
  }

private:
  sinew::detail::Handle<sinew_executor, sinew_executor_free> executor_;
};

#endif  // RUNNER_HPP
