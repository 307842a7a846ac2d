"""The largest memory that this process has had."""

import resource
from pathlib import Path


def peak_rss_bytes():
    """Largest resident memory of this process so far, in bytes."""
    # from /proc where there is one: what getrusage says may stem from the parent, whose memory counts until exec
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    peaks = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return peaks[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
