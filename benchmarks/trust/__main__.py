"""All simulations behind docs/research/how-sure.md, one after the other: hours.

python -m benchmarks.trust
python -m benchmarks.trust --quick
"""

import subprocess
import sys

for name in ("chance", "effects", "stability", "intervals"):
    command = [sys.executable, "-m", f"benchmarks.trust.{name}", *sys.argv[1:]]
    subprocess.run(command, check=True)
