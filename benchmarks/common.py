"""What the benchmark scripts share: the machine's description, and JSON output."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

import easyenvs


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = [
            line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "easyenvs": easyenvs.__version__,
    }


def machine_text() -> str:
    """The same in a line."""
    m = machine()
    return f"{m['cpu']}, {m['cores']} cores, {m['system']}; Python {m['python']}, NumPy {m['numpy']}, easyenvs {m['easyenvs']}"


def write_json(path: Path, results: Any) -> None:
    """Results with the machine and the command that gave them."""
    command = shlex.join(["python", *sys.argv])
    path.write_text(json.dumps({"command": command, "machine": machine(), "results": results}, indent=2) + "\n")
