// What the test programs of C++ share.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdlib>
#include <iostream>

/// Ends the program if a condition doesn't hold, and says where.
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      std::cerr << __FILE__ << ':' << __LINE__ << ": not so: " << #condition << '\n'; \
      std::exit(1); \
    } \
  } while (false)

/// Ends the program unless two values are equal, and says both.
#define CHECK_EQ(one, other) \
  do { \
    const auto & check_one = (one); \
    const auto & check_other = (other); \
    if (!(check_one == check_other)) { \
      std::cerr << __FILE__ << ':' << __LINE__ << ": " << #one << " is " << check_one << ", but " << \
        #other << " is " << check_other << '\n'; \
      std::exit(1); \
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
