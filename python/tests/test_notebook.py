"""The notebook of `examples/python`: its cells run, one after the other."""

import ast
import asyncio
import contextlib
import io
import json
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

import sinew
import sinew.notebook
from sinew.interfaces.std_msgs.msg import Float64, String
from support import SinewTest

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


class Handle:
    """Stands for IPython's place in the output, which an object can be shown at again."""

    def __init__(self, shown):
        self.seen = [repr(shown)]
        self.pictures = [shown._repr_svg_()] if hasattr(shown, "_repr_svg_") else []

    def update(self, shown):
        self.seen.append(repr(shown))
        if hasattr(shown, "_repr_svg_"):
            self.pictures.append(shown._repr_svg_())


class Live(SinewTest):
    def setUp(self):
        super().setUp()
        self.node = sinew.Node("notebook", context=self.context)
        self.addCleanup(self.node.destroy_node)
        self.handles = []

    def show(self, shown, *, display_id):
        self.assertTrue(display_id)
        self.handles.append(Handle(shown))
        return self.handles[-1]

    def run_live(self, live, publish):
        """Runs `live` while `publish` is called now and then, as in a notebook with IPython."""
        display = types.ModuleType("IPython.display")
        display.display = self.show
        modules = {"IPython": types.ModuleType("IPython"), "IPython.display": display}

        async def run():
            async def publishes():
                while True:
                    publish()
                    await asyncio.sleep(0.01)

            publishing = asyncio.ensure_future(publishes())
            try:
                return await live
            finally:
                publishing.cancel()

        with mock.patch.dict(sys.modules, modules):
            return asyncio.run(run())

    def test_a_rate_is_shown_and_shown_again(self):
        publisher = self.node.create_publisher(String, "chatter", 10)
        live = sinew.notebook.hz(self.node, String, "chatter", seconds=0.5, every=0.05)
        rate = self.run_live(live, lambda: publisher.publish(String(data="hello")))
        self.assertGreater(rate.count, 2)
        self.assertGreater(rate.hz, 0)
        [handle] = self.handles
        self.assertEqual(handle.seen[0], "chatter: 0 messages")
        self.assertGreater(len(handle.seen), 2)
        self.assertIn(f"{rate.count} in all", handle.seen[-1])
        self.assertEqual(self.node.count_subscribers("chatter"), 0)

    def test_a_plot_has_the_values(self):
        publisher, values = self.node.create_publisher(Float64, "level", 10), iter(range(10**6))
        live = sinew.notebook.plot(self.node, Float64, "level", lambda level: level.data, seconds=0.5, every=0.05)
        plot = self.run_live(live, lambda: publisher.publish(Float64(data=float(next(values)))))
        found = [value for _, value in plot.points]
        self.assertEqual(found, sorted(found))
        self.assertGreater(len(found), 2)
        [handle] = self.handles
        self.assertNotIn("polyline", handle.pictures[0])
        self.assertIn("<polyline", handle.pictures[-1])
        self.assertEqual(handle.pictures[-1].count(","), len(found) + 1, "a corner for each, and one in the text")

    def test_an_error_of_the_value_ends_the_plot(self):
        publisher = self.node.create_publisher(String, "chatter", 10)
        live = sinew.notebook.plot(self.node, String, "chatter", lambda text: text.level)
        with self.assertRaisesRegex(AttributeError, "level"):
            self.run_live(live, lambda: publisher.publish(String(data="hello")))
        self.assertEqual(self.node.count_subscribers("chatter"), 0)

    def test_without_ipython_it_is_printed(self):
        out = io.StringIO()
        with mock.patch.dict(sys.modules, {"IPython": None, "IPython.display": None}), contextlib.redirect_stdout(out):
            asyncio.run(sinew.notebook.hz(self.node, String, "chatter", seconds=0.1, every=0.05))
        self.assertIn("chatter: 0 messages", out.getvalue())

    def test_what_makes_no_sense_is_refused(self):
        for wrong in ({"window": 1}, {"every": 0}):
            with self.assertRaisesRegex(ValueError, "not "):
                asyncio.run(sinew.notebook.hz(self.node, String, "chatter", seconds=0.1, **wrong))
        with self.assertRaisesRegex(ValueError, "more than 0 seconds"):
            asyncio.run(sinew.notebook.plot(self.node, String, "chatter", len, window=0, seconds=0.1))

    def test_a_plot_is_drawn_within_its_frame(self):
        plot = sinew.notebook.Plot("t", 2.0)
        self.assertEqual(repr(plot), "t: no values")
        for at, value in [(0.0, 5.0), (1.0, float("nan")), (3.0, -1.0), (3.5, float("inf")), (4.0, 1.0)]:
            plot.add(at, value)
        self.assertEqual([at for at, _ in plot.points], [3.0, 3.5, 4.0])
        self.assertIn('points="320.0,156.0 636.0,4.0"', plot._repr_svg_())
        flat = sinew.notebook.Plot("<t>", 1.0)
        flat.add(0.0, 3.0)
        self.assertIn("&lt;t&gt;: 3 (from 3 to 3, 1 values)", flat._repr_svg_())


if __name__ == "__main__":
    unittest.main()
