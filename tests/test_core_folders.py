"""The folders of the compiled core: includes point one way."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "librulesearch"
ALLOWED = {
    "problem": set(),
    "kernels": {"problem"},
    "engine": {"problem"},
    "conditions": {"problem", "kernels", "engine"},
    "ranges": {"problem", "engine"},
}


def included_folders(path):
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r'#include "librulesearch/(?:(\w+)/)?\w+\.hpp"', text))


def test_every_folder_has_its_place():
    assert {path.name for path in SOURCES.iterdir() if path.is_dir()} == set(ALLOWED)


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes_point_down(folder):
    files = sorted((SOURCES / folder).glob("*.[ch]pp"))
    assert files
    for path in files:
        assert included_folders(path) <= ALLOWED[folder] | {folder}, path.name


def test_only_the_bindings_know_of_python():
    for path in SOURCES.rglob("*.[ch]pp"):
        assert not re.search(r"#include <(nanobind|Python)", path.read_text(encoding="utf-8"))
