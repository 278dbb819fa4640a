"""laconic demo"""

import re
import subprocess

import pytest
from commands import PROGRAM, pretend_terminal


@pytest.fixture(scope="module")
def demo_output():
    process = subprocess.run([*PROGRAM, "demo"], capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_demo_tells_its_story(demo_output):
    assert "\x1b" not in demo_output
    greedy, optimal, comparison = re.split(r"Optimal search: |on 10,000 new rows", demo_output)
    assert "Greedy search: heuristic, no proof" in greedy
    assert optimal.startswith("proven optimal")
    corners = re.findall(r"x0 (<=|>) \S+ & x1 (<=|>) \S+ & x2 (<=|>)", optimal)
    assert len(set(corners)) == 4
    assert all(corner.count("<=") % 2 == 1 for corner in corners)  # the product is negative
    assert re.search(r"proven optimal +0 of 4 +4 of 4", comparison)
    accuracy = re.search(r"accuracy +(0\.\d+) +(0\.\d+)", comparison)
    assert float(accuracy[1]) < 0.6 < 0.9 < float(accuracy[2])


def test_demo_fits_on_a_screen(monkeypatch, run):
    for n_columns, n_headers in ((80, 2), (140, 1)):
        pretend_terminal(monkeypatch, n_columns)
        _, out, _ = run("demo")
        lines = re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()
        assert max(map(len, lines)) <= n_columns
        assert sum("objective" in line for line in lines) == n_headers
