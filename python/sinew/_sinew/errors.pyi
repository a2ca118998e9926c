"""Exceptions."""

class SinewError(RuntimeError):
    """An error of Sinew; ``code`` is its number in the book's list."""

    code: int

class NotInitializedException(SinewError):
    """There is no context: `sinew.init()` was not called."""

class ExternalShutdownException(SinewError):
    """The context was shut down while something waited in it."""

class InvalidNameError(SinewError):
    """ROS 2 doesn't allow this name."""

class QoSError(SinewError):
    """A QoS that there can't be."""

class ServiceError(SinewError):
    """A call failed: there is no server, it failed, or it went away."""

class InvalidHandle(SinewError):
    """What was used is destroyed: a node, publisher, timer and so on."""

class ParameterException(SinewError):
    """A parameter can't be declared, read or set."""

class ParameterAlreadyDeclaredException(ParameterException): ...
class ParameterNotDeclaredException(ParameterException): ...
class ParameterUninitializedException(ParameterException): ...
class InvalidParameterTypeException(ParameterException): ...
class InvalidParameterValueException(ParameterException): ...

class TransformException(SinewError):
    """A transform can't be looked up or added."""

class LookupException(TransformException):
    """A frame is unknown."""

class ConnectivityException(TransformException):
    """Two frames are in different trees."""

class ExtrapolationException(TransformException):
    """A transform is not known at that time."""

class InvalidArgumentException(TransformException):
    """A frame's name or a transform is invalid."""

class UndecodableError(SinewError):
    """A field of a received message can't be read: its bytes end too early, or are those of another
    type."""

class InterfaceError(SinewError):
    """A message, service or action type is unknown, or its definition is wrong."""

class BagError(SinewError):
    """A bag can't be read, or a part of it is damaged."""
