"""Check that every relative link of the pages leads to a file, and every anchor to a heading."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain, count
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`]+`")
HEADING = re.compile(r"^#+\s+(.+?)\s*#*$", re.MULTILINE)


def main() -> int:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
    broken = [line for page in sorted(pages) for line in broken_links(page)]
    sys.stderr.writelines(f"{line}\n" for line in broken)
    return int(bool(broken))


def broken_links(page: Path) -> Iterator[str]:
    # Brackets in code are not links, but code may be the text of a link.
    text = INLINE.sub("code", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / unquote(path)).resolve() if path else page
        place = page.relative_to(ROOT)
        if not file.exists():
            yield f"{place}: {target} does not exist"
        elif anchor and anchor not in anchors(file):
            yield f"{place}: {file.name} has no heading with the anchor #{anchor}"


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    found: set[str] = set()
    for heading in HEADING.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        text = LINK.sub(lambda link: link[0][1:].split("]")[0], heading).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        names = chain([slug], (f"{slug}-{number}" for number in count(1)))
        found.add(next(name for name in names if name not in found))
    return found


if __name__ == "__main__":
    sys.exit(main())
