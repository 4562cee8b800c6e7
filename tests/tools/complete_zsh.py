"""complete_zsh.py FOLDER WORDS...: types each of WORDS and a tab into a zsh that finds its completions in FOLDER, and prints the resulting line."""
import os
import pty
import select
import sys
import time

folder, lines = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("zsh", ["zsh", "-f", "-i"])


def read_until(end, limit=20):
    seen, begun = "", time.monotonic()
    while end not in seen and time.monotonic() - begun < limit:
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen


def send(text):
    os.write(terminal, text.encode())


# the end of each answer is written so that typing it does not look like it
send("unsetopt zle_bracketed_paste beep; PS1='> '; fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D\n" % folder)
send("show() { local line=$BUFFER; BUFFER=; zle -I; print -r -- \"GOT[$line]\"E\"ND\" }; zle -N show; bindkey '^X' show; bindkey '^I' complete-word; print RE''ADY\n")
read_until("READY")
for line in lines:
    send(line + "\t")
    time.sleep(0.3)
    send("\x18")
    seen = read_until("]END")
    print(seen[seen.rfind("GOT[") + 4 : seen.rfind("]END")])
send("exit\n")
