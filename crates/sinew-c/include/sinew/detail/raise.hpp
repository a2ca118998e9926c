/// Exceptions of the standard library, for arithmetic that has no result.
#ifndef SINEW_DETAIL_RAISE_HPP
#define SINEW_DETAIL_RAISE_HPP

#include <cstdio>
#include <cstdlib>

namespace sinew::detail
{

/// Throws an exception with a sentence; without exceptions, prints the sentence and aborts.
template<class E>
[[noreturn]] void raise(const char * sentence)
{
#ifdef __cpp_exceptions
  throw E(sentence);
#else
  std::fprintf(stderr, "%s\n", sentence);
  std::abort();
#endif
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_RAISE_HPP
