"""The study of intervals runs, and prints its tables."""

from benchmarks.trust.intervals import main


def test_the_quick_study_prints_all_tables(capsys):
    main(["--quick"])
    tables = capsys.readouterr().out.strip().split("\n\n")
    assert len(tables) == 8
    for table in tables:
        head, _, *lines = table.splitlines()
        assert lines
        assert {line.count("|") for line in lines} == {head.count("|")}
