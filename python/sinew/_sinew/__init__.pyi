"""The extension module: what is in Rust, in one module at run time. Programs import the package's modules."""

from .actions import *
from .endpoints import *
from .errors import *
from .graph import *
from .messages import *
from .nodes import *
from .tf import *

__version__: str
