// Other processes of a round. They are this program, forked before it has threads, and end with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

/// A line between two processes, for lists of numbers.
class Line
{
public:
  explicit Line(int socket)
  : socket_(socket) {}
  Line(const Line &) = delete;
  Line & operator=(const Line &) = delete;
  ~Line();

  /// Sends a list. Throws if the other process is gone.
  void send(const std::vector<std::int64_t> & numbers);

  /// Waits for a list. Nothing comes if the other process is gone.
  std::optional<std::vector<std::int64_t>> receive();

  /// Waits for a list. Throws if the other process is gone.
  std::vector<std::int64_t> expect();

private:
  int socket_;
};

/// Another process. It is killed if its parent dies, or no longer holds it.
class Child
{
public:
  /// Starts a process that does `work`. If it throws, its process writes the sentence to standard
  /// error and exits with 1.
  explicit Child(const std::function<void(Line &)> & work);
  Child(const Child &) = delete;
  Child & operator=(const Child &) = delete;
  ~Child();

  Line & line() {return *line_;}

private:
  pid_t process_ = -1;
  std::unique_ptr<Line> line_;
};

/// Two cores that this process may use. Throws if it may use only one.
struct Cores
{
  int first;
  int second;
};
Cores two_cores();

/// Pins this thread, and those that it starts, to a core.
void pin_to(int core);
