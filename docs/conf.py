"""Settings of the documentation site: `nox -s site` builds it into build/site."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import laconic

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "laconic"
author = "The laconic developers"
project_copyright = "2026, The laconic developers"
version = release = laconic.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
suppress_warnings = ["ref.ref"]  # docstrings inherited from scikit-learn refer to its pages

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# Code blocks without a language are output: do not guess one.
highlight_language = "none"

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # types are part of the docstrings
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "laconic"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {
        "text": "laconic",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Short pages need no sidebar.
html_sidebars = {page: [] for page in ("index", "start", "how", "comparison", "contributing")}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|[/\\])(?!plot_)[^/\\]*\.py$",
    "within_subsection_order": "gallery_order.InOrder",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    # Show the HTML representation of the last value only, not the address of an object.
    "capture_repr": ("_repr_html_",),
    "backreferences_dir": None,
}

# Pages also link to files outside of this folder, for readers of the repository. Only these are
# pages of the site.
PAGES_OF_FILES = {
    "../CONTRIBUTING.md": "contributing.md",
    "../README.md": "index.md",
    "../examples/GALLERY_HEADER.rst": "gallery/index.rst",
}


def link_within_site(app, page: str, source: list[str]) -> None:
    """Replace links to files outside of this folder by links within the site, or by plain text."""

    def replaced(link: re.Match[str]) -> str:
        words, target = link[1], link[2].partition("#")[0]
        within = PAGES_OF_FILES.get(target)
        return f"[{words}]({within})" if within else words

    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)]*)\)", replaced, source[0])
    # Remove the empty line at the end of doctests.
    source[0] = re.sub(r"^(```python\n(?:(?!```).*\n)*?)\n```$", r"\1```", source[0], flags=re.M)


def setup(app) -> None:
    app.connect("source-read", link_within_site)
