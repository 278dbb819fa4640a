"""laconic demo"""

import re
import subprocess

from cli.commands import PROGRAM, pretend_terminal


def test_demo_tells_its_story():
    process = subprocess.run([*PROGRAM, "demo"], capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    out = process.stdout
    assert "\x1b" not in out
    greedy, optimal, comparison = re.split(r"Optimal search: |on all boards", out)
    assert "Greedy search: heuristic, no proof" in greedy
    assert optimal.startswith("proven optimal")
    for start in ("top-lft == x & top-mid == x & top-rgt == x", "bot-lft == o & bot-mid == o"):
        assert start in optimal
    assert re.search(r" 2 +\+\d.\d+ +top-lft == x & mid-mid == b ", greedy)
    assert re.search(r"proven optimal +0 of 10 +10 of 10", comparison)
    accuracy = re.search(r"accuracy +(0\.\d+) +(0\.\d+)", comparison)
    assert float(accuracy[1]) < 0.9 < 0.99 < float(accuracy[2])


def test_demo_fits_on_a_screen(monkeypatch, run):
    for n_columns, n_headers in ((80, 2), (140, 1)):
        pretend_terminal(monkeypatch, n_columns)
        _, out, _ = run("demo")
        lines = re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()
        assert max(map(len, lines)) <= n_columns
        assert sum("objective" in line for line in lines) == n_headers
