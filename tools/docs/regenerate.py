#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands of README.md, docs/tutorial.md and docs/howto/*.md again and puts their outputs in place.

    tools/docs/regenerate.py SOFTPMU [FILE...]     (after `make`; no user runs it; FILE: only these pages)

A command is a line "    $ COMMAND" of an indented block.  Its output follows, up to the next such line or the end of
the block, standard error included.  Where a page leaves lines out ("[...]"), the same stretches are left out again: the
script finds the kept parts in the new output by their shape (digits aside).  An output in which it does not find them
stays as it was, and the script names the command.  Each page runs in a fresh copy of docs/examples.  The folder always
has the same name, because names of files are part of the modelled memory."""
import glob, os, re, shutil, subprocess, sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = "/tmp/softpmu-docs"
# These are about a host, or take long.
SKIP = re.compile(r"^(man |make |tools/machine|softpmu machine|softpmu tune --native)")


OTHERS = ["docs/howto/tune-program.md", "docs/howto/tune-host.md"]	# excerpts of what experiments/ print


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
    os.chdir(TOP)
    howto = [p for p in sorted(glob.glob("docs/howto/*.md")) if p not in OTHERS]
    pages = sys.argv[2:] or ["README.md", "docs/tutorial.md"] + howto
    odd = 0
    for path in pages:
        os.mkdir(WORK)	# fails if another run is under way
        try:
            os.mkdir(WORK + "/bin")
            os.symlink(softpmu, WORK + "/bin/softpmu")
            env = {"PATH": WORK + "/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": WORK, "PAGER": "cat"}
            work = WORK + "/ex"
            shutil.copytree("docs/examples", work)
            shutil.copy("tests/programs/jit.c", work)
            subprocess.run(["gcc", "-O1", "-g", "-I" + TOP + "/include", "-o", "look", "look.c"], cwd=work, check=True)
            odd += page(path, work, env)
        finally:
            shutil.rmtree(WORK)
    return odd != 0


sys.exit(main())
