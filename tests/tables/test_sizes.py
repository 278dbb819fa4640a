"""How large tables are without compression"""

import gzip

import polars as pl
import pyarrow as pa
import pytest
from commands import people

from laconic.cli import streamed
from laconic.tables.text_files.formats import uncompressed_size

FRAME = people(12_000)
TEXT = FRAME.write_csv().encode()


def in_members(content):
    """Compress part by part, so that the last four bytes tell nothing about the whole."""
    parts = [content[start : start + 9_000] for start in range(0, len(content), 9_000)]
    return b"".join(gzip.compress(part) for part in [*parts, b""])


def write_huge_numbers(path):
    frame = pl.DataFrame({"x": [1] * 100_000}, schema={"x": pl.Int128})
    try:
        frame.write_parquet(path)
    except pl.exceptions.ComputeError:
        pytest.skip("this polars writes no such numbers")


WRITERS = {
    "table.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT)),
    "members.csv.gz": lambda path: path.write_bytes(in_members(TEXT)),
    "table.csv.zst": lambda path: path.write_bytes(pa.compress(TEXT, "zstd", asbytes=True)),
    "table.jsonl.gz": lambda path: path.write_bytes(gzip.compress(FRAME.write_ndjson().encode())),
    "table.parquet": lambda path: FRAME.write_parquet(path),
    "same.parquet": lambda path: pl.DataFrame({"x": [1] * 100_000}).write_parquet(path),
    "huge.parquet": lambda path: write_huge_numbers(path),
    "table.feather": lambda path: FRAME.write_ipc(path, compression="zstd"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_compressed_files_are_as_large_as_what_they_hold(name, tmp_path, monkeypatch):
    path = tmp_path / name
    WRITERS[name](path)
    texts = {".csv": len(TEXT), ".json": len(FRAME.write_ndjson()), "same": 800_000}
    texts["huge"] = 800_000
    known = (size for part, size in texts.items() if part in name)
    least = next(known, 8 * FRAME.width * FRAME.height)
    assert path.stat().st_size < least / 2
    assert 0.8 * least <= uncompressed_size(path) <= 10 * least
    monkeypatch.setattr(streamed, "MAX_BYTES_TO_LOAD", 0.7 * least)
    assert streamed.is_read_in_parts(path)
    monkeypatch.setattr(streamed, "MAX_BYTES_TO_LOAD", 11 * least)
    assert not streamed.is_read_in_parts(path)


@pytest.mark.parametrize(
    ("descriptor", "size"),
    [
        (b"\x24\x05", 50),  # one byte, too few for the file: there are more frames
        (b"\x64\x01\x01", 256 + 257),
        (b"\xa4\x00\x00\x01\x00", 65_536),
        (b"\xe0" + (2**33).to_bytes(8, "little"), 2**33),
        (b"\x80\x58\x00\x00\x01\x00", 65_536),
        (b"\x04\x58", 50),
    ],
)
def test_frames_of_zstandard_tell_their_size(descriptor, size, tmp_path):
    path = tmp_path / "table.csv.zst"
    path.write_bytes(b"(\xb5/\xfd" + descriptor)
    n_bytes = path.stat().st_size
    assert uncompressed_size(path) == (10 * n_bytes if size == 50 else size)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", b"a,b\n1,2\n"),
        ("empty.csv", b""),
        ("empty.parquet", b""),
        ("broken.parquet", b"PAR1 and no more"),
        ("broken.csv.gz", b"\x1f\x8b\x00"),
        ("broken.csv.zst", b"(\xb5/\xfd"),
        ("loaded anyway.parquet.gz", gzip.compress(b"x" * 10_000, mtime=0)),
    ],
)
def test_other_files_are_as_large_as_they_are(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    assert uncompressed_size(path) == len(content)
