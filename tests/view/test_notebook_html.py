"""HTML of models and functions in a browser."""

from __future__ import annotations

import kinetree as kt
from tests.model.test_html_text import hostile


def test_tables_show_in_a_browser(browser):
    """Rows of all arrays and bodies are drawn, and no script of a name has become an element."""
    page = browser.new_page()
    function = kt.compile(hostile(), "rnea")
    html = hostile()._repr_html_() + function._repr_html_() + kt.load("arm7")._repr_html_()
    page.set_content(f"<html><body>{html}</body></html>")
    assert page.locator("table").count() == 3 and page.locator("script").count() == 0
    assert page.locator("tbody tr").count() == 1 + len(function.input_names) + 1 + kt.load("arm7").nb - 1
    assert page.locator("table").first.bounding_box()["height"] > 20.0
    page.close()
