"""Hide the features of Linux that macOS lacks from a Python and from all that it starts.

Put this folder first on PYTHONPATH. Libraries bring code for each system, so they are left alone
where they must know the real one: psutil, which on macOS asks the kernel, still reads /proc.
"""

import builtins
import errno
import functools
import io
import mmap
import multiprocessing
import os
import platform
import resource
import select
import signal
import sys
import sysconfig
import time
import types

_NAMES = {
    os: (
        "O_TMPFILE copy_file_range eventfd fdatasync fork getrandom memfd_create pidfd_open pipe2"
        " posix_fadvise posix_fallocate process_cpu_count sched_getaffinity sched_getparam"
        " sched_setaffinity sched_setscheduler setns splice unshare"
    ),
    mmap: "MADV_DONTFORK MADV_HUGEPAGE MADV_POPULATE_READ MAP_POPULATE",
    resource: "RUSAGE_THREAD prlimit",
    select: "epoll",
    signal: "SIGPWR SIGRTMIN SIGRTMAX SIGSTKFLT sigtimedwait sigwaitinfo",
    time: "CLOCK_BOOTTIME pthread_getcpuclockid",
}


def _hide(names) -> None:
    for holder, words in names.items():
        for word in words.split():
            if hasattr(holder, word):
                delattr(holder, word)


# first, since other modules look for them when they are loaded
_hide(_NAMES)

# while the system is known, by which these choose their parts
import llvmlite.binding  # noqa: E402, F401
import psutil  # noqa: E402

sysconfig.get_config_vars()
sys.modules["_scproxy"] = types.ModuleType("_scproxy")  # in which urllib looks for a Mac's proxies
sys.modules["_scproxy"]._get_proxies = sys.modules["_scproxy"]._get_proxy_settings = dict
_hide({psutil.Process: "cpu_affinity cpu_num io_counters ionice memory_maps rlimit"})

_FOLDERS = ("/proc", "/sys", "/dev/shm", "/run/user")


def _is_hidden(path):
    if not isinstance(path, str | os.PathLike) or not os.fspath(path).startswith(_FOLDERS):
        return False
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("psutil"):
            return False
        frame = frame.f_back
    return True


def _without_folders(function):
    @functools.wraps(function)
    def call(path=".", *arguments, **options):
        if _is_hidden(path):
            if function is _access:
                return False
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        return function(path, *arguments, **options)

    return call


_access = os.access
for _name in ("access", "listdir", "lstat", "open", "readlink", "scandir", "stat", "statvfs"):
    setattr(os, _name, _without_folders(getattr(os, _name)))
builtins.open = io.open = _without_folders(io.open)

_get_context = multiprocessing.get_context


def _context_without_fork(method=None):
    if method == "fork":
        raise ValueError("cannot find context for 'fork'")
    return _get_context(method)


multiprocessing.get_context = _context_without_fork

_peaks = resource.getrusage


def _peaks_in_bytes(who):
    usage = _peaks(who)
    return types.SimpleNamespace(
        ru_maxrss=1024 * usage.ru_maxrss, ru_utime=usage.ru_utime, ru_stime=usage.ru_stime
    )


resource.getrusage = _peaks_in_bytes
# the limit that a Mac's terminal starts with
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
platform.system = lambda: "Darwin"
sys.platform = "darwin"
