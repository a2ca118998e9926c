// What the test programs of C++ share.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdlib>
#include <iostream>

/// Prints why a check failed, and ends the program. Functions, as the macros are expanded hundreds of times.
[[noreturn]] inline void check_failed(const char * file, int line, const char * condition)
{
  std::cerr << file << ':' << line << ": not so: " << condition << '\n';
  std::exit(1);
}

template<class One, class Other>
[[noreturn]] void check_not_equal(
  const char * file, int line, const char * texts, const One & one, const Other & other)
{
  std::cerr << file << ':' << line << ": " << texts << ": " << one << " and " << other << '\n';
  std::exit(1);
}

/// Ends the program if a condition doesn't hold, and says where.
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      check_failed(__FILE__, __LINE__, #condition); \
    } \
  } while (false)

/// Ends the program unless two values are equal, and says both.
#define CHECK_EQ(one, other) \
  do { \
    const auto & check_one = (one); \
    const auto & check_other = (other); \
    if (!(check_one == check_other)) { \
      check_not_equal(__FILE__, __LINE__, #one " is not " #other, check_one, check_other); \
    } \
  } while (false)

/// Ends the program unless the statement throws the exception.
#define CHECK_THROWS(statement, exception) \
  do { \
    bool check_thrown = false; \
    try { \
      statement; \
    } catch (const exception &) { \
      check_thrown = true; \
    } \
    CHECK(check_thrown); \
  } while (false)

#endif  // CHECK_HPP
