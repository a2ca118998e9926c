"""Communication for robots at memory speed."""

from ._sinew import __version__ as __version__
