"""Peak memory of a process."""

import re
import sys
from pathlib import Path


def peak_megabytes() -> float:
    """Largest memory that this process has had so far, with all libraries in it."""
    status = Path("/proc/self/status")
    if status.exists():  # resource counts what the process was started from, too
        [peak] = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        return int(peak) * 1024 / 1e6
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
