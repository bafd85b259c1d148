#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes docs/reference/perf-options.md: the options of the installed perf, and what softpmu does with each.

    tools/docs/perf_options.py SOFTPMU     prints the page

The options are those that `perf COMMAND -h` names. SOFTPMU is asked about each, without a program: it takes the
option, refuses it with a reason, or does not know it."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap

COLUMNS = 120
COMMANDS = ["stat", "stat report", "record", "report", "annotate", "mem", "script", "list"]
# perf takes these options ahead of the word; softpmu's report is the one that answers
ASKED = {"mem": "mem report"}
HEAD = """# perf's options

This page is written by `tools/docs/perf_options.py build/softpmu`. It lists the options that `perf COMMAND -h` of perf
6.1 names, and what softpmu answers when it is given each of them: *taken*, *no effect* with the reason why it needs
none, *hands over to perf* (softpmu runs perf's command with the same words, where perf is installed), or *refused* with
the reason and what to use instead. A test asks the program again, and fails if an option has no answer.
"""


def output(*words):
    """What a command prints on both outputs, in an empty directory."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(words, cwd=empty, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
    return done.stdout


def options(command):
    """Spellings of each option, in perf's order."""
    for line in output("perf", *command.split(), "-h").split("\n"):
        found = re.match(r" {4,8}(?:(-\w)(?:, )?)?(--[\w-]+)?", line)
        if found and (found[1] or found[2]):
            yield [word for word in found.groups() if word]


def answer(program, command, option):
    command = ASKED.get(command, command)
    said = output(program, *command.split(), option).split("\n")[0]
    if "unknown option" in said or "unknown command" in said:
        return "unknown"
    idle = re.search(r"^\.It .*Fl -?" + re.escape(option.strip("-"))
                     + r"( .*)?\nAccepted without effect[:,] (.*\n(?:[^.].*\n)*)",
                     output(program, "help", "--mdoc", *command.split()), re.M)
    if idle:
        return "no effect: " + " ".join(idle[2].split()).rstrip(".")
    perf = re.search(r"^\.It .*Fl -?" + re.escape(option.strip("-")) + r"( .*)?\nHands over to perf",
                     output(program, "help", "--mdoc", *command.split()), re.M)
    if perf:
        return "hands over to perf"
    refused = re.match(r"softpmu: option " + re.escape(option) + r": (.*)", said)
    return "refused: " + refused[1] if refused else "taken"


def main():
    program = os.path.abspath(sys.argv[1])
    unknown = False
    print(HEAD.rstrip("\n"))
    for command in COMMANDS:
        known = "unknown command" not in output(program, "help", *command.split())
        print(f"\n## {command}\n")
        if not known:
            print(f"`softpmu {command}` runs `perf {command}` with the same words, where perf is installed.")
            continue
        print("| perf's option | softpmu |\n|---|---|")
        notes = []		# reasons that are too long for a row of the table
        for names in options(command):
            said = answer(program, command, names[-1]).replace("|", "\\|")
            option = " ".join(f"`{name}`" for name in names)
            if len(f"| {option} | {said} |") > COLUMNS:
                if said not in notes:
                    notes.append(said)
                said = said.split(":")[0] + f" ({notes.index(said) + 1})"
            unknown |= said == "unknown"
            print(f"| {option} | {said} |")
        if notes:
            print()
        for number, note in enumerate(notes):
            print(textwrap.fill(f"{number + 1}. {note.split(': ', 1)[1]}", COLUMNS, subsequent_indent="   "))

    if unknown:
        sys.exit("an option of perf has no answer")


main()
