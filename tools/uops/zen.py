# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py: rows of instruction forms of AMD's cores, from LLVM's scheduling model and
# from what tools/uops/measure.sh measured on the machine itself.  LLVM's model of znver4 expresses a throughput by
# how long a group of pipes is held, not by uops, and many of its figures are not those of the machine (ADC one a
# cycle by holding all ALUs, PABSD xmm 2 cycles, ymm 1); so the rules differ from those of generate_uops.py.  They
# are judged by a table made without every fifth measured form (the result is printed); the table that stays is made
# from all.
#
#  Z1  What R1 of generate_uops.py keeps has its class' row, written by hand with its own source; so has what is
#      newer than the core (R7).
#  Z2  A form without memory operand has its class' row if that agrees with the measurement: the same latency when
#      rounded, and clocks within 15 % (and never below what the dispatch width allows); or, if it was not measured,
#      if the other forms of its class agreed.
#  Z3  Otherwise it has as many uops as LLVM has macro-ops: one on each group of pipes that LLVM names, the others
#      beside it on the first group.  The last uop has the latency: measured, else of most measured forms on the same
#      pipes, else LLVM's.
#  Z4  If the measured clocks differ from that by more than 15 %: a form of one uop gets the set of the machine's pipes
#      whose number gives the clocks to 12 % (the class' first, then one that contains LLVM's or lies within it, then
#      others).  Otherwise a slower form of about 1 clock gets the first pipe alone; a slower form of 1.5 clocks or
#                more has
#      its uop busy that long; a faster form gets as many fewer uops beside it as needed.
#  Z5  A form with a memory operand has the uops of its register form, and the decoder adds loads and stores; if
#      there is no register form, or the class' row says that it only loads, it has the class' row.  Measurements of
#      forms that load count as in Z4; those of forms that store do not, because two stores a cycle must be to one
#      line, and the measured loop walks over lines.
#  Z6  Forms that depend on themselves through flags or hidden registers, and forms that cross register files, have the
#      class' latencies; for the former the clocks only show that they are not slower.
import re
import rows
from rows import Uop

# What differs between machines:
#   pipes         LLVM's pipes as the table's ports
#   sets          sets of ports that operations share, the likelier ones first
#   alus          all integer ports that compute
#   width         macro-ops dispatched per cycle
#   load, vector_load, store_address, store_data, vector_store_data    ports of memory uops
#   dividers      ports that have a floating-point divider each: clocks in half cycles
#   crowded       clocks up to which a measurement may have used all ALUs at once
#   chains        Z6 also holds for fixed destinations (ADD EAX,imm32) and two results (MULX); zen4.tsv was made without
#   given         uops of register forms that the measured chain does not show, because it does not pass through all
#                 sources: forms, uops, why
#   loads         clocks up to which a form that loads may be slower than its uops: three loads a cycle were not reached
#                 in the measured loops (HOST ADD r64,m64 0.40, GUESS: banks of L1D)
#   assist        a figure of at least this many clocks is from microcode that the operands' values caused (VMASKMOV
#                 with a mask that is not set), and is not used
MACHINES = {
    'zen4': dict(
        pipes={'Zn4ALU0': '0', 'Zn4ALU1': '1', 'Zn4ALU2': '2', 'Zn4ALU3': '3', 'Zn4ALU0123': '0123',
               'Zn4ALU03': '03', 'Zn4ALU12': '12',
               'Zn4BRU01': '0d', 'Zn4FP0': '7', 'Zn4FP1': '8', 'Zn4FP2': '9', 'Zn4FP3': 'a', 'Zn4FPAES01': '78',
               'Zn4FPFMul01': '78',
               'Zn4FPFAdd01': '9a', 'Zn4FPVMul01': '7a', 'Zn4FPFMisc0123': '789a', 'Zn4FPFMisc12': '89',
               'Zn4FPFMisc123': '89a',
               'Zn4FPOpMask4': 'b', 'Zn4FP45': 'b'},
        sets=['0123', '12', '03', '1', '0', '789a', '89a', '78', '9a', '89', '7a', '7', '8', '9', 'a', 'b'],
        alus='0123', width=6, load='456', vector_load='45', store_address='456', store_data='bc',
        vector_store_data='b', dividers='', crowded=0, loads=0, assist=1000, chains=False, given=()),
    # LLVM 19 has no model of Zen 5; Zen 4's says of which kind each operation is.  Pairs of operations on the
    # machine showed which ports the kinds have (data/uops/zen5.tsv, "Ports").
    'zen5': dict(
        pipes={'Zn4ALU0': '0', 'Zn4ALU1': '012', 'Zn4ALU2': '345', 'Zn4ALU3': '5', 'Zn4ALU0123': '012345',
               'Zn4ALU03': '012345',
               'Zn4ALU12': '345', 'Zn4BRU01': '345', 'Zn4FP0': 'a', 'Zn4FP1': 'b', 'Zn4FP2': 'c', 'Zn4FP3': 'd',
               'Zn4FPAES01': 'ab',
               'Zn4FPFMul01': 'ab', 'Zn4FPFAdd01': 'cd', 'Zn4FPVMul01': 'ab', 'Zn4FPFMisc0123': 'abcd',
               'Zn4FPFMisc12': 'bc',
               'Zn4FPFMisc123': 'bcd', 'Zn4FPOpMask4': 'ef', 'Zn4FP45': 'ef'},
        sets=['012345', '345', '012', '3', '0', 'abcd', 'ab', 'cd', 'bc', 'ef', 'a', 'b', 'c', 'd', 'e'],
        alus='012345', width=8, load='6789', vector_load='67', store_address='6789', store_data='ef',
        vector_store_data='ef', dividers='ab', crowded=0.205, loads=0, assist=100, chains=True,
        given=((r'CMOVN?(BE|L|LE) r\d+,r', 'p012345/1:in3+p012345/1:in1:in2',
                'class cmov, HOST CMP and CMOVcc and ADD in a chain 4 cycles: flags are needed first'),)),
}
# Zen 3 has the pipes of Zen 4 (SOG 56665, "Floating-Point Unit", and 57647).  What differs is in the measurements.
MACHINES['zen3'] = dict(MACHINES['zen4'], chains=True, assist=100, loads=0.48)
FLAGS_ONLY = ('fp_comis', 'vec_test', 'pcmpistri', 'pcmpestri')  # their two operands make no chain
DIVIDE = ('fp_div_s', 'fp_div_d', 'fp_sqrt_s', 'fp_sqrt_d')


def measured(path, assist):
    """Two dictionaries {form: (latency or None, clocks or None)}: four of five forms, and every fifth."""
    used, held, n = {}, {}, 0
    for line in open(path):
        if line[0] == '#':
            continue
        name, lat, tp = line.rstrip('\n').split('\t')
        n += 1
        lat, tp = (None if x == '-' or float(x) >= assist else float(x) for x in (lat, tp))
        (held if n % 5 == 0 else used)[name] = lat, tp
    return used, held


def whole(lat):
    return round(lat) if lat is not None and lat >= 0.85 and abs(lat - round(lat)) <= 0.15 else None


class Zen:
    def __init__(self, g, models, il):
        self.g, self.models, self.il, self.m = g, models, il, MACHINES[g.uarch]
        self.made, self.agree, self.pipes_latency = {}, {}, {}
        self.log = []

    def bound(self, uops, form):
        """Clocks per instruction that a row means, its loads and stores included."""
        m, vector = self.m, 'mm' in form.name
        ports = [u.ports for u in uops if u.kind == 'p'] + [m['vector_load' if vector else 'load']] * form.loads
        ports += [m['store_address']] * form.stores + [m['vector_store_data' if vector else 'store_data']] * form.stores
        slots = max(1, sum('joined' not in u.attrs for u in uops)) + (1 if form.kind == 'rmw' else 0)
        if form.kind == 's' and uops:
            slots += 1
        return rows.port_bound(ports, m['width'], slots, max([u.busy for u in uops] or [0]))

    def near(self, a, b):
        return abs(a - b) <= 0.15 * b or max(a, b) <= self.m['crowded']

    def chained(self, form, uops):
        """True if the measured loop is a chain through operands that its text cannot vary (Z6)."""
        fixed = re.search(r' (al|ax|eax|rax)\b', form.name) or any(a in ('out1', 'out2') for u in uops for a in u.attrs)
        return form.chain or bool(self.m['chains'] and fixed)

    def special(self, form, uops):
        return form.chain or form.cls in self.g.cross or form.cls in FLAGS_ONLY or any(a in ('out1', 'out2', 'flags',
                'par') for u in uops for a in u.attrs)

    def model_uops(self, m, latency):
        sets = []
        for name, cycles in sorted(m.resources.items()):
            p = self.m['pipes'].get(name)
            if p and not (name == 'Zn4FP45' and 'Zn4Load' in m.resources):
                sets.append((p, cycles))
        if not sets:
            return []
        sets.sort(key=lambda s: (-len(s[0]), s[0]))
        uops = [Uop(p, 1, ['side']) for p, _ in sets[:-1]]
        uops = [Uop(sets[0][0], 1, ['side']) for _ in range(max(0, min(m.uops, 16) - len(sets)))] + uops
        return uops + [Uop(sets[-1][0], max(1, latency))]

    def fit(self, uops, form, tp, hint=''):
        """Z4"""
        now = self.bound(uops, form)
        if self.near(now, tp) or not uops or form.loads and now <= tp <= self.m['loads']:
            return True
        live = [u for u in uops if u.kind == 'p']
        if len(uops) == 1 and live:
            u = live[0]
            best = [s for s in self.m['sets'] if abs(1 / len(s) - tp) <= 0.12 * tp
                    and (s[0] in self.m['alus']) == (u.ports[0] in self.m['alus'])]
            best.sort(key=lambda s: (s != hint, not (set(s) <= set(u.ports) or set(u.ports) <= set(s)),
                                     self.m['sets'].index(s)))
            if best:
                u.ports = best[0]
                return True
        if tp > now:
            if len(uops) == 1 and live and self.near(1, tp):
                live[0].ports = live[0].ports[0]
                return self.near(self.bound(uops, form), tp)
            if tp >= 1.5 and live:
                u = max(live, key=lambda x: x.latency)
                u.attrs = [a for a in u.attrs if not a.startswith(('busy', 'unit'))] + ['busy=%d' % round(tp),
                        'unit=other']
                return True
            return False
        for u in live:
            u.attrs = [a for a in u.attrs if not a.startswith(('busy', 'unit'))]
        while not self.near(self.bound(uops, form), tp) and self.bound(uops, form) > tp and any(u.side for u in uops):
            uops.remove(next(u for u in uops if u.side))
        return self.fit(uops, form, tp,
                        hint) if len(live) > 1 and len(uops) == 1 else self.near(self.bound(uops, form), tp)

    def row(self, form, m):
        g = self.g
        ctext, cflags, _ = g.class_rows[form.row]
        default = form.cls in ('default', 'substitute')
        locked = form.name.startswith('LOCK ') or form.cls == 'xchg_mem'
        if form.newer and not default:
            return ctext, ','.join([x for x in cflags.split(',') if x not in ('-', 'substitute')]
                                   + ['substitute']), 'class %s' % form.row
        lat, tp = self.il.get(form.name, (None, None))
        kept = form.cls in g.keep or locked or (form.cls in g.keep_memory and form.kind != '-')
        if kept and default:
            return None
        for pattern, text, why in self.m['given']:
            if form.kind == '-' and re.match(pattern, form.name):
                return self.finish(form, rows.parse_uops(text), [], why)
        if kept:
            text = ctext
            if locked:
                extra = g.class_rows['lock'][0]
                text = extra if text == '-' else text + '+' + extra
            return text, cflags, 'class %s' % form.row
        template = None if default else rows.parse_uops(ctext)
        flags = [f for f in cflags.split(',') if f in ('nofuse', 'falsedep', 'elim', 'rotates')]
        figures = ''.join([', HOST L %g' % lat if lat is not None else '',
                           ', HOST T %g' % tp if tp is not None else ''])
        if template is not None and any(u.kind == 'elim' for u in template) or 'elim' in flags and form.kind == '-':
            return ctext, cflags, 'class %s%s' % (form.row, figures)
        if form.kind == '-':
            special = self.special(form, template or [])
            latency = None if special else whole(lat)
            if template is not None:
                agrees = (tp is None or self.near(self.bound(template, form), tp)
                          or (self.chained(form, template) and self.bound(template, form) < tp)) and (latency is None
                                  or rows.path(template) == latency)
                if tp is not None:
                    votes = self.agree.setdefault(form.row, [0, 0])
                    votes[not agrees] += 1
                if (agrees and tp is not None) or m is None or (tp is None
                        and self.others.get(form.row, [1, 0])[0] >= self.others.get(form.row, [1, 0])[1]):
                    return ctext, cflags, 'class %s%s' % (form.row, figures)
            if m is None:
                return None
            uops = self.model_uops(m, latency or m.latency)
            if not uops or len(uops) > 14:
                return (ctext, cflags, 'class %s%s' % (form.row, figures)) if template is not None else None
            if template is not None and (form.cls in DIVIDE or special):
                uops = [u.copy() for u in template]
                if latency and not special:
                    g.set_latency(uops, latency)
            elif latency is None:
                votes = self.others_latency.get((form.row, uops[-1].ports))
                g.set_latency(uops, max(votes, key=lambda k: (len(votes[k]), -k)) if votes else m.latency)
            else:
                self.pipes_latency.setdefault((form.row, uops[-1].ports), {}).setdefault(latency, []).append(form.name)
            if form.cls in DIVIDE and tp:
                if self.m['dividers']:
                    uops[-1].ports = self.m['dividers']
                    uops[-1].attrs = ['busy=%d' % round(tp * len(uops[-1].ports)), 'unit=fpdivs']
                else:
                    uops[-1].attrs = ['busy=%d' % max(2, round(tp)), 'unit=fpdiv']
            elif tp and not (self.chained(form, uops) and self.bound(uops, form) < tp) and not self.fit(uops, form,
                    tp, template[-1].ports if template else ''):
                self.log.append('%s\topen\t%s\t%g, not %g'
                                % (form.name, rows.format_uops(uops), self.bound(uops, form), tp))
            return self.finish(form, uops, flags, 'LLVM' + figures)
        if form.kind == 'm' and ctext == '-':  # a load and nothing else, whatever its register form does
            return ctext, cflags, 'class %s%s' % (form.row, figures)
        base = self.made.get(form.register_form())
        if base is not None and form.kind != 's':
            uops = [u.copy() for u in base if u.kind == 'p']
        elif template is not None:
            uops = template
        else:
            return None
        if form.kind == 'm' and tp:
            if base is not None and not self.near(self.bound(uops, form),
                                                  tp) and template is not None and self.near(self.bound(template,
                                                          form), tp):
                uops = template
            elif not self.fit(uops, form, tp):
                self.log.append('%s\topen\t%s\t%g, not %g'
                                % (form.name, rows.format_uops(uops), self.bound(uops, form), tp))
        if uops is template:
            return ctext, cflags, 'class %s%s' % (form.row, figures)
        return self.finish(form, uops, flags, 'register form' + figures)

    def finish(self, form, uops, flags, source):
        slots = sum('joined' not in u.attrs for u in uops) + (1 if form.kind in ('s', 'rmw') else 0)
        if slots > 2 and 'ms' not in flags:
            flags = flags + ['ms']
        return rows.format_uops(uops), ','.join(flags) or '-', source

    def all(self, forms):
        self.others, self.others_latency = {}, {}
        for _ in range(2):
            self.made, self.agree, self.pipes_latency, out, self.log = {}, {}, {}, {}, []
            for n in sorted(forms, key=lambda n: (forms[n].kind != '-', n)):
                r = self.row(forms[n], self.models.get(n))
                if r is None:
                    continue
                out[n] = r
                uops = rows.parse_uops(r[0])
                if forms[n].kind == '-' and uops is not None:
                    self.made[n] = uops
            self.others, self.others_latency = self.agree, self.pipes_latency
        return out

    def judge(self, forms, made, held):
        """(forms, latencies within a cycle or 10 %, those compared, clocks within 15 %, those compared) of the
        forms left out."""
        lat_ok = lat_n = tp_ok = tp_n = 0
        for n, (lat, tp) in held.items():
            if n not in made or made[n][0] == '-' or '|' in made[n][0]:
                continue
            uops, f = rows.parse_uops(made[n][0]), forms[n]
            if whole(lat) and f.kind == '-' and not self.special(f, uops) and not any(u.kind == 'elim' for u in uops):
                lat_n += 1
                lat_ok += abs(rows.path(uops) - lat) <= max(1, 0.1 * lat)
            if tp and not f.stores and not self.chained(f, uops) and 'elim' not in made[n][1]:
                tp_n += 1
                tp_ok += self.near(self.bound(uops, f), tp)
        return lat_ok, lat_n, tp_ok, tp_n
