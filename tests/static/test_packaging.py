"""The recipe for conda and the citation say what pyproject.toml says."""

from __future__ import annotations

import tomllib

import pytest

from tests.static.source_tree import ROOT

yaml = pytest.importorskip("yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAMES = {"matplotlib": "matplotlib-base"}  # conda's package without a window system


def test_the_recipe_has_the_requirements_of_the_project():
    """Versions of Python, libraries and build system, and the license; conda splits matplotlib into two packages."""
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == PROJECT["version"] and recipe["package"]["name"] == PROJECT["name"]
    wanted = [f"python {PROJECT['requires-python']}"]
    for line in PROJECT["dependencies"]:
        name, version = line.split(">=")
        wanted.append(f"{NAMES.get(name, name)} >={version}")
    assert recipe["requirements"]["run"] == wanted
    system = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {f"python {PROJECT['requires-python']}", "pip", *system} == set(recipe["requirements"]["host"])
    assert recipe["about"]["license"] == PROJECT["license"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"kinetree = {PROJECT['scripts']['kinetree']}"


def test_the_citation_is_of_this_version():
    """Name, version and license."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["title"].startswith(PROJECT["name"]) and str(citation["version"]) == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


def test_the_page_on_installation_lists_the_extras():
    """All but those for developers, each with the packages that it brings."""
    page = (ROOT / "docs" / "start" / "install.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")
    ]
    listed = {name.strip(" `") for row in rows for name in row[0].split(",")}
    assert listed == set(PROJECT["optional-dependencies"]) - {"docs", "test", "dev"}
    for name, brings, _ in (row for row in rows if "," not in row[0]):
        packages = [line.partition(">=")[0] for line in PROJECT["optional-dependencies"][name.strip("`")]]
        assert brings.split(", ") == packages
