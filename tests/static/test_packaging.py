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
