"""Runs jobs in forks of one process, which has imported what they import: that takes longer than most of them.

``server.py SOCKET``; the jobs come from the sitecustomize.py beside it.
"""

import importlib
import json
import os
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

server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind(sys.argv[1])
server.listen()
print("ready", flush=True)
# nobody waits for those that have ended
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
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
