/// The exceptions, with the names and bases of rclcpp's.
///
/// Each of them is also a `sinew::Exception`, which has the number of the failure. Without
/// exceptions in the compiler (`-fno-exceptions`) there are none of these.
#ifndef SINEW_EXCEPTIONS_HPP
#define SINEW_EXCEPTIONS_HPP

#include <cstddef>
#include <string>

#include "sinew/invalid_name.hpp"
#include "sinew/sinew.h"

#ifdef __cpp_exceptions

#include <new>
#include <stdexcept>

namespace sinew
{

/// A failure of the library: a base of all exceptions that it throws.
class Exception
{
public:
  explicit Exception(sinew_status code) noexcept
  : code_(code) {}
  virtual ~Exception() = default;

  /// The number of the failure, `SINEW_ERROR_..`.
  sinew_status code() const noexcept {return code_;}

protected:
  Exception(const Exception &) = default;
  Exception & operator=(const Exception &) = default;

private:
  sinew_status code_;
};

/// A context is initialised while it is.
class ContextAlreadyInitialized : public Exception, public std::runtime_error
{
public:
  ContextAlreadyInitialized(sinew_status code, const std::string & sentence)
  : Exception(code), std::runtime_error(sentence) {}
};

namespace exceptions
{

/// A failure without a class of its own.
class RCLError : public Exception, public std::runtime_error
{
public:
  RCLError(sinew_status code, const std::string & sentence)
  : Exception(code), std::runtime_error(sentence) {}
};

/// An argument can't be used.
class RCLInvalidArgument : public Exception, public std::invalid_argument
{
public:
  RCLInvalidArgument(sinew_status code, const std::string & sentence)
  : Exception(code), std::invalid_argument(sentence) {}
};

/// There is no memory.
class RCLBadAlloc : public Exception, public std::bad_alloc
{
public:
  RCLBadAlloc(sinew_status code, const std::string & sentence)
  : Exception(code), sentence_(sentence) {}
  const char * what() const noexcept override {return sentence_.c_str();}

private:
  std::string sentence_;
};

/// A name of a node, topic, service or namespace is invalid.
class NameValidationError : public Exception, public std::invalid_argument
{
public:
  NameValidationError(sinew_status code, const std::string & sentence, const InvalidName & invalid)
  : Exception(code), std::invalid_argument(sentence), name_type(invalid.type_name()),
    name(invalid.name), error_msg(sentence), invalid_index(invalid.index) {}

  /// "node name", "namespace", "topic name", "service name", or "name".
  const std::string name_type;
  const std::string name;
  /// The sentence.
  const std::string error_msg;
  /// The byte at which the first problem starts: in the name, or in what it expands to.
  const std::size_t invalid_index;
};

class InvalidNodeNameError : public NameValidationError
{
public:
  using NameValidationError::NameValidationError;
};

class InvalidNamespaceError : public NameValidationError
{
public:
  using NameValidationError::NameValidationError;
};

class InvalidTopicNameError : public NameValidationError
{
public:
  using NameValidationError::NameValidationError;
};

class InvalidServiceNameError : public NameValidationError
{
public:
  using NameValidationError::NameValidationError;
};

/// The QoS contradicts itself.
class InvalidQosException : public RCLInvalidArgument
{
public:
  using RCLInvalidArgument::RCLInvalidArgument;
};

/// A parameter has no name, or can't be read from a text.
class InvalidParametersException : public RCLError
{
public:
  using RCLError::RCLError;
};

/// A parameter can't have the value.
class InvalidParameterValueException : public RCLError
{
public:
  using RCLError::RCLError;
};

/// A parameter is of another type.
class InvalidParameterTypeException : public RCLError
{
public:
  using RCLError::RCLError;
};

/// The parameter is declared already.
class ParameterAlreadyDeclaredException : public RCLError
{
public:
  using RCLError::RCLError;
};

/// The parameter is not declared.
class ParameterNotDeclaredException : public RCLError
{
public:
  using RCLError::RCLError;
};

/// The parameter has no value.
class ParameterUninitializedException : public RCLError
{
public:
  using RCLError::RCLError;
};

/// A callback for parameters can't change any.
class ParameterModifiedInCallbackException : public RCLError
{
public:
  using RCLError::RCLError;
};

}  // namespace exceptions

namespace detail
{

/// Throws the exception that stands for an invalid name.
[[noreturn]] inline void throw_name_error(
  sinew_status code, const std::string & sentence, const InvalidName & invalid)
{
  using namespace exceptions;  // NOLINT(build/namespaces)
  switch (invalid.kind) {
    case SINEW_NAME_NODE:
      throw InvalidNodeNameError(code, sentence, invalid);
    case SINEW_NAME_NAMESPACE:
      throw InvalidNamespaceError(code, sentence, invalid);
    case SINEW_NAME_TOPIC:
      throw InvalidTopicNameError(code, sentence, invalid);
    case SINEW_NAME_SERVICE:
      throw InvalidServiceNameError(code, sentence, invalid);
    default:
      throw NameValidationError(code, sentence, invalid);
  }
}

/// Throws the exception that stands for a failure.
[[noreturn]] inline void throw_exception(
  sinew_status code, const std::string & sentence, const InvalidName & invalid)
{
  using namespace exceptions;  // NOLINT(build/namespaces)
  switch (code) {
    case SINEW_ERROR_INVALID_NAME:
      throw_name_error(code, sentence, invalid);
    case SINEW_ERROR_ALREADY_INITIALIZED:
      throw ContextAlreadyInitialized(code, sentence);
    case SINEW_ERROR_INVALID_QOS:
      throw InvalidQosException(code, sentence);
    case SINEW_ERROR_NO_MEMORY:
      throw RCLBadAlloc(code, sentence);
    case SINEW_ERROR_INVALID_ARGUMENT:
    case SINEW_ERROR_INVALID_REMAPPING:
    case SINEW_ERROR_INVALID_PERIOD:
    case SINEW_ERROR_NULL_ARGUMENT:
    case SINEW_ERROR_INVALID_ENUMERATOR:
    case SINEW_ERROR_INVALID_UTF8:
      throw RCLInvalidArgument(code, sentence);
    case SINEW_ERROR_EMPTY_PARAMETER_NAME:
    case SINEW_ERROR_INVALID_PARAMETER_TEXT:
      throw InvalidParametersException(code, sentence);
    case SINEW_ERROR_PARAMETER_DECLARED:
      throw ParameterAlreadyDeclaredException(code, sentence);
    case SINEW_ERROR_PARAMETER_NOT_DECLARED:
      throw ParameterNotDeclaredException(code, sentence);
    case SINEW_ERROR_OTHER_PARAMETER_TYPE:
      throw InvalidParameterTypeException(code, sentence);
    case SINEW_ERROR_INVALID_PARAMETER_VALUE:
      throw InvalidParameterValueException(code, sentence);
    case SINEW_ERROR_PARAMETER_UNINITIALIZED:
      throw ParameterUninitializedException(code, sentence);
    case SINEW_ERROR_IN_PARAMETER_CALLBACK:
      throw ParameterModifiedInCallbackException(code, sentence);
    default:
      throw RCLError(code, sentence);
  }
}

}  // namespace detail

}  // namespace sinew

#endif  // __cpp_exceptions

#endif  // SINEW_EXCEPTIONS_HPP
