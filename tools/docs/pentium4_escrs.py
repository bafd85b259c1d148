#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints docs/reference/pentium4-events.md: what each ESCR of the Pentium 4 counts here, and why the rest does not.

usage: pentium4_escrs.py [TOP]     TOP: the checkout, default: this script's
Everything below the head comes from data/events/netburst*.tsv and the wiring in src/pmu/families/netburst_wiring.c."""
import os, re, sys

top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
read = lambda path: open(os.path.join(top, path), encoding="utf-8").read()

# MSR addresses: the enumeration of pmu.h counts on from the last value given.
address, value = {}, 0
for name, given in re.findall(r"\b(MSR_\w+)(?:\s*=\s*(0x[0-9A-Fa-f]+))?\s*[,}\n]", read("include/softpmu/pmu.h")):
    value = int(given, 16) if given else value + 1
    address[name] = value
COUNTERS = {"BPU": ("0, 1", "2, 3"), "MS": ("4, 5", "6, 7"), "FLAME": ("8, 9", "10, 11"),
            "IQ": ("12, 13, 16", "14, 15, 17")}
escrs = [(name, block, int(side)) for name, block, side in
         re.findall(r"\{ (MSR_\w+), (\w+), ([01]), \d \}", read("src/pmu/families/netburst_wiring.c"))]

def rows(table):
    for line in read("data/events/%s.tsv" % table).split("\n"):
        column = line.split("\t")
        if len(column) == 10 and line[0] not in "#@":
            yield column

def events(table):
    """[(event, ESCRs, {mask bit: reason, or "" if it counts})] of the rows with one mask bit."""
    found = {}
    for name, code, umask, mods, _, flags, _, _, _, why in rows(table):
        event, mask = name.split(".")[0], int(umask, 16)
        msrs = re.search(r"escr=([0-9a-f/]+)", mods).group(1).split("/")
        if "." not in name or "deprecated" in flags or bin(mask).count("1") != 1 or "replay=" in mods:
            continue
        entry = found.setdefault(event, (tuple(int(msr, 16) for msr in msrs), {}))
        entry[1].setdefault(name.split(".")[1], why if why != "-" else "")
    return found

print(read("tools/docs/pentium4-head.txt"), end="")
table = events("netburst")
print("## What each ESCR counts\n")
print("Mask bits that count, of those that the manual names (models 0 to 2).\n")
print("| ESCR | MSR | counters | event | mask bits that count |\n|---|---|---|---|---|")
total = counted = 0
for name, block, side in escrs:
    mine = [(event, bits) for event, (msrs, bits) in table.items() if address[name] in msrs]
    start = "| `%s` | %XH | %s |" % (name[4:], address[name], COUNTERS[block][side])
    for event, bits in mine:
        print(start, "`%s` | %d of %d |" % (event, sum(not why for why in bits.values()), len(bits)))
    if not mine:
        print(start, "no documented event | |")
for bits in (bits for _, bits in table.values()):
    total += len(bits)
    counted += sum(not why for why in bits.values())
extra = sorted(set(events("netburst-prescott")) - set(table))
print("\n%d of %d mask bits count. %s exists from model 3 on, and counts. `IQ_ESCR0` and `IQ_ESCR1` exist on\n"
      "models 0 to 2 only." % (counted, total, ", ".join("`%s`" % event for event in extra)))
print("\n## What does not count, and why\n")
print("| event | mask bits | reason |\n|---|---|---|")
for event, (msrs, bits) in table.items():
    for why in dict.fromkeys(why for why in bits.values() if why):
        names = [bit for bit in bits if bits[bit] == why]
        for at in range(0, len(names), 3):  # short lines
            print("| `%s` | %s | %s |" % (event, ", ".join(names[at:at + 3]), why))
