#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands of README.md and docs/examples.md again and puts their outputs in place.

    tools/docs/regenerate.py SOFTPMU FILE...     (after `make`; no user runs it)

A command is a line "    $ COMMAND" of an indented block; what follows up to the next such line or the block's end is its
output, standard error included.  Where a page leaves lines out ("[...]"), the same stretches are left out again: the parts that
are kept are found in the new output by their shape (digits aside).  What cannot be found stays as it was, and is named."""
import os, re, shutil, subprocess, sys, tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = re.compile(r"^(man |make )")


def shape(line):
    return re.sub(r"[\d,.]+", "0", re.sub(r"\s+", " ", line)).strip()


def elide(old, new):
    """The kept parts of `old`, as they are in `new`; None if a part is not there."""
    parts, part = [], []
    for line in old + ["[...]"]:
        if line.strip() == "[...]":
            parts.append(part)
            part = []
        else:
            part.append(line)
    out, at = [], 0
    for i, part in enumerate(parts):
        if i:
            out.append("[...]")
        if not part:
            continue
        where = 0 if i == 0 else next((k for k in range(at, len(new)) if shape(new[k]) == shape(part[0])), None)
        if where is None or where + len(part) > len(new):
            return None
        out += new[where:where + len(part)]
        at = where + len(part)
    return out


def run(command, directory, env):
    p = subprocess.run(["sh", "-c", command], cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = [line.rstrip() for line in p.stdout.rstrip("\n").split("\n")] if p.stdout.strip() else []
    return lines


def page(path, directory, env):
    lines, out, i, odd = open(path).read().split("\n"), [], 0, 0
    while i < len(lines):
        m = re.match(r"    \$ (.*)$", lines[i])
        out.append(lines[i])
        i += 1
        if not m or SKIP.match(m.group(1)):
            continue
        old = []
        while i < len(lines) and not re.match(r"    \$ ", lines[i]):
            if lines[i] and not lines[i].startswith("    "):
                break
            old.append(lines[i][4:])
            i += 1
        tail = []
        while old and not old[-1]:
            old.pop()
            tail.append("")
        new = run(m.group(1), directory, env)
        if any(line.strip() == "[...]" for line in old):
            new = elide(old, new)
        if new is None or (old and not new):
            print(f"{path}: left as it was: {m.group(1)}", file=sys.stderr)
            odd, new = odd + 1, old
        out += [("    " + line).rstrip() for line in new] + tail
    open(path, "w").write("\n".join(out))
    return odd


def main():
    softpmu = os.path.abspath(sys.argv[1])
    directory = tempfile.mkdtemp()
    bin_directory = os.path.join(directory, "bin")
    os.mkdir(bin_directory)
    os.symlink(softpmu, os.path.join(bin_directory, "softpmu"))
    env = {"PATH": bin_directory + ":/usr/bin:/bin", "LC_ALL": "C", "HOME": directory, "PAGER": "cat"}
    work = os.path.join(directory, "ex")
    shutil.copytree(os.path.join(TOP, "docs/examples"), work)
    shutil.copy(os.path.join(TOP, "tests/programs/jit.c"), work)
    for command in ("gcc -O1 -g -o walk walk.c", f"gcc -O1 -g -I'{TOP}/include' -o look look.c", r"sed 's/\[N\]\[N\]/[N][N + 8]/g' walk.c >padded.c && gcc -O1 -g -o padded padded.c", "seq 1 40000 >numbers"):
        subprocess.run(["sh", "-c", command], cwd=work, check=True)
    odd = sum(page(path, work, env) for path in sys.argv[2:])
    shutil.rmtree(directory)
    return odd != 0


sys.exit(main())
