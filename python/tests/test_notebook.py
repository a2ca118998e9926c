"""The notebook of `examples/python`: its cells run, one after the other."""

import ast
import json
import os
import pathlib
import sys
import unittest

REPOSITORY = pathlib.Path(os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2])

try:
    import numpy
except ImportError:
    numpy = None
    print("SKIPPED: the example notebook: numpy is not installed", file=sys.stderr)


def run(cell, names):
    """Runs a cell, and returns the value of its last expression, as a notebook shows it."""
    parts = ast.parse("".join(cell["source"])).body
    last = parts.pop() if isinstance(parts[-1], ast.Expr) else None
    exec(compile(ast.Module(parts, []), "cell", "exec"), names)
    return last and eval(compile(ast.Expression(last.value), "cell", "eval"), names)


class Notebook(unittest.TestCase):
    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_cells(self):
        notebook = json.loads((REPOSITORY / "examples/python/notebook.ipynb").read_text())
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        names = {}
        shown = [run(cell, names) for cell in cells]
        for cell in cells:
            self.assertEqual(cell["outputs"], [], "the notebook is kept without outputs")
        pictures = [value for value in shown if hasattr(value, "_repr_png_")]
        self.assertEqual([picture._repr_png_()[:4] for picture in pictures], [b"\x89PNG"] * 2)
        self.assertEqual(next(value for value in shown if isinstance(value, numpy.ndarray)).tolist(), [127.5, 0, 127.5])


if __name__ == "__main__":
    unittest.main()
