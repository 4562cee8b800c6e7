"""terminal.py: runs a command on a terminal of its own and interrupts it, like a user.

    terminal.py [--key SECONDS]... [--lines FILE] [--limit SECONDS] -- COMMAND...

Standard error is the terminal, standard output goes where this program's goes. --key presses Ctrl-C so many seconds after the start (or after the key
before it). The exit code is the command's, 128 + n when signal n ended it. What the terminal saw goes to --lines, carriage returns as newlines.
"""
import argparse
import os
import pty
import select
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--key", type=float, action="append", default=[])
parser.add_argument("--lines", default=os.devnull)
parser.add_argument("--limit", type=float, default=60)
parser.add_argument("command", nargs="+")
options = parser.parse_args()

master, slave = pty.openpty()


def own_terminal():
    os.setsid()
    import fcntl
    import termios

    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


process = subprocess.Popen(options.command, stdin=slave, stderr=slave, preexec_fn=own_terminal, close_fds=False)
os.close(slave)
seen, begun, keys = b"", time.monotonic(), list(options.key)
due = begun + keys[0] if keys else None
while True:
    ready, _, _ = select.select([master], [], [], 0.02)
    if ready:
        try:
            data = os.read(master, 65536)
        except OSError:
            data = b""
        if not data and process.poll() is not None:
            break
        seen += data
        if not data:
            time.sleep(0.02)
    elif process.poll() is not None:
        break
    now = time.monotonic()
    if due and now >= due and process.poll() is None:
        os.write(master, b"\x03")
        keys.pop(0)
        due = now + keys[0] if keys else None
    if now - begun > options.limit:
        process.kill()
        seen += b"\nterminal.py: killed after the limit\n"
        break
code = process.wait()
with open(options.lines, "w") as file:
    file.write(seen.decode(errors="replace").replace("\r", "\n").replace("\x1b[K", ""))
sys.exit(code if code >= 0 else 128 - code)
