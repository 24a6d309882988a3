"""Sphinx's configuration. The pages are staged by `docs.site.pages`; build with ``python -m docs.site``."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import kinetree  # noqa: E402

project = "kinetree"
author = "The kinetree developers"
copyright = "The kinetree developers"
release = version = kinetree.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "docs.site.formulas",
    "docs.site.sources",
    "docs.site.name_links",
    "docs.site.reuse",
]
root_doc = "index"
exclude_patterns = ["_static", "notebooks"]
templates_path = []
default_role = "code"
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_validation_checks = set()
add_module_names = False
toc_object_entries = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = "kinetree"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#0b5d6b",
        "color-brand-content": "#0b6f80",
        "font-stack": "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
        "font-stack--monospace": "'JetBrains Mono', 'SFMono-Regular', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#63c7d6", "color-brand-content": "#63c7d6"},
}
nitpicky = False
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
