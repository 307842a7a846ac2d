"""Runs jobs in forks of one process, which has imported what they import: that takes longer than most of them.

It prints its address, to which the sitecustomize.py beside it sends jobs, and ends with its standard input.
"""

import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import traceback

from ovaflow.cli import _MODULES, main

with tempfile.TemporaryFile("w+") as said:
    # loads kernels, too
    sys.stdout = said
    main(["warm-up"])
sys.stdout = sys.__stdout__
for module, _ in _MODULES.values():
    importlib.import_module(f"ovaflow.cli.{module}")

# nobody waits for those that have ended
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
server, folder = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), tempfile.mkdtemp(prefix="ovaflow-jobs-")
server.bind(f"{folder}/socket")
server.listen()
print(f"{folder}/socket", flush=True)
while True:
    if sys.stdin in select.select([server, sys.stdin], [], [])[0]:
        shutil.rmtree(folder)
        sys.exit()
    connection, _ = server.accept()
    if os.fork() == 0:
        break
    connection.close()

signal.signal(signal.SIGCHLD, signal.SIG_DFL)
asked, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
asked = json.loads(asked)
for number, descriptor in enumerate(descriptors):
    os.dup2(descriptor, number)
os.environ.clear()
os.environ.update(asked["environment"])
os.chdir(asked["folder"])
try:
    status = main(asked["words"])
except BaseException:
    traceback.print_exc()
    status = 1
sys.stdout.flush()
sys.stderr.flush()
connection.send(bytes([status]))
os._exit(status)
