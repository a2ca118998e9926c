#include "process.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace
{

/// The most numbers of a list: a sample for each microsecond of a minute.
constexpr std::int64_t MOST_NUMBERS = 60'000'000;

/// Calls `move` with what is left of some bytes until all are moved. Returns false if the other end
/// is gone.
template<class Byte, class Move>
bool move_all(Byte * place, std::size_t bytes, Move move)
{
  while (bytes > 0) {
    const ssize_t count = move(place, bytes);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return false;
    }
    place += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool read_all(int socket, void * to, std::size_t bytes)
{
  return move_all(
    static_cast<char *>(to), bytes,
    [socket](char * place, std::size_t left) {return ::recv(socket, place, left, 0);});
}

bool write_all(int socket, const void * from, std::size_t bytes)
{
  return move_all(
    static_cast<const char *>(from), bytes, [socket](const char * place, std::size_t left) {
      return ::send(socket, place, left, MSG_NOSIGNAL);
    });
}

[[noreturn]] void become_child(const std::function<void(Line &)> & work, int socket, pid_t parent)
{
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    std::_Exit(1);  // it died before it could be watched
  }
  int code = 0;
  try {
    Line line(socket);
    work(line);
  } catch (const std::exception & error) {
    std::fprintf(stderr, "another process: %s\n", error.what());
    code = 1;
  }
  std::fflush(stderr);
  std::_Exit(code);  // what the parent has made is not this process's to end
}

}  // namespace

Line::~Line()
{
  ::close(socket_);
}

void Line::send(const std::vector<std::int64_t> & numbers)
{
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (!write_all(socket_, &count, sizeof count) ||
    !write_all(socket_, numbers.data(), numbers.size() * sizeof(std::int64_t)))
  {
    throw std::runtime_error("the other process is gone");
  }
}

std::optional<std::vector<std::int64_t>> Line::receive()
{
  std::int64_t count = 0;
  if (!read_all(socket_, &count, sizeof count) || count < 0 || count > MOST_NUMBERS) {
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  if (!read_all(socket_, numbers.data(), numbers.size() * sizeof(std::int64_t))) {
    return std::nullopt;
  }
  return numbers;
}

std::vector<std::int64_t> Line::expect()
{
  auto numbers = receive();
  if (!numbers) {
    throw std::runtime_error("the other process is gone");
  }
  return *std::move(numbers);
}

Child::Child(const std::function<void(Line &)> & work)
{
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::runtime_error("no pair of sockets for another process");
  }
  line_ = std::make_unique<Line>(sockets[0]);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    line_.reset();
    become_child(work, sockets[1], parent);
  }
  ::close(sockets[1]);
  if (process_ < 0) {
    throw std::runtime_error("another process can't be started");
  }
}

Child::~Child()
{
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

Cores two_cores()
{
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < 2; ++core) {
    if (CPU_ISSET(core, &allowed)) {
      cores.push_back(core);
    }
  }
  if (cores.size() < 2) {
    throw std::runtime_error("two processes on two cores are measured, and this process may use one");
  }
  return {cores[0], cores[1]};
}

void pin_to(int core)
{
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}
