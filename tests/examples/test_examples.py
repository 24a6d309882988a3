"""Every example runs without a display, prints what its docstring says, draws its figure, and its physics is right."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
LONGEST = 80


@pytest.fixture(autouse=True)
def without_display(monkeypatch, tmp_path):
    """No window can open, and nothing is written into the project."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def example(request):
    """The example as a module; importing it runs nothing but its definitions."""
    path = request.param
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected_output(module) -> str:
    """The block after "Output::" in the docstring, where "..." stands for anything."""
    _, _, block = inspect.getdoc(module).partition("Output::\n\n")
    return inspect.cleandoc(block) + "\n"


def test_the_examples_are_there():
    """They are numbered without gaps, so the parameters of the tests below are the whole folder."""
    assert [path.name[:2] for path in EXAMPLES] == [f"{n:02d}" for n in range(1, len(EXAMPLES) + 1)]
    assert len(EXAMPLES) >= 10


def draws_last(example) -> bool:
    """Whether the figure is the last statement of ``main``, so that a run without one is the same up to there."""
    (main,) = ast.parse(inspect.getsource(example.main)).body
    used = [any(isinstance(x, ast.Name) and x.id == "plot" for x in ast.walk(each)) for each in main.body]
    last = main.body[-1]
    return not any(used[:-1]) and isinstance(last, ast.If) and not last.orelse and ast.unparse(last.test) == "plot"


def test_it_prints_what_its_docstring_says_and_draws_its_figure(example, capsys, tmp_path):
    """The output matches the docstring's, where "..." stands for digits of the machine; the picture has content."""
    has_figure = "plot" in inspect.signature(example.main).parameters
    alone = not has_figure or not draws_last(example)
    if alone:
        example.main()
    found = capsys.readouterr().out
    if has_figure:
        image = pytest.importorskip("matplotlib.image")
        example.main(plot=str(tmp_path / "figure.png"))
        pixels = image.imread(tmp_path / "figure.png")
        assert pixels.shape[0] > 300 and pixels.shape[1] > 500
        assert pixels[..., :3].std() > 0.05  # a blank page has no contrast
    found, wanted = found if alone else capsys.readouterr().out, expected_output(example)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(wanted, found, options), f"docstring:\n{wanted}\nprinted:\n{found}"


def test_its_physics_is_right(example):
    """Each example asserts a law of physics or a theorem about its own result."""
    assert "assert" in inspect.getsource(example.check)
    example.check()


def test_it_fits_on_a_page(example):
    """Title, what you learn, and at most 80 lines."""
    text = Path(example.__file__).read_text()
    assert len(text.splitlines()) <= LONGEST
    title, _, lesson, *_ = inspect.getdoc(example).splitlines()
    assert title.endswith((".", "?"))
    assert lesson.startswith("You learn ")
