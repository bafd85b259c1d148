# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py: rows of a uop table as values (src/isa/table.c describes the format), the
# throughput and latency that a row means, and the measured rows of InstLatx64.
import itertools
import re


class Uop:
    """One uop of a row.  ports: string of hexadecimal digits, sorted; '' for nop and elim, which `kind` names."""

    def __init__(self, ports, latency, attrs=(), kind='p'):
        self.ports, self.latency, self.attrs, self.kind = ports, latency, list(attrs), kind

    def copy(self):
        return Uop(self.ports, self.latency, self.attrs, self.kind)

    @property
    def side(self):
        return 'side' in self.attrs or self.kind == 'nop'

    @property
    def busy(self):
        """Clocks for which each of its units is busy: with several ports, a share."""
        return max([int(a[5:]) for a in self.attrs if a.startswith('busy=')] or [0]) / (len(self.ports)
                if 'unit=fpdivs' in self.attrs else 1)

    def text(self):
        head = 'p%s/%d' % (self.ports, self.latency) if self.kind == 'p' else self.kind
        return ':'.join([head] + self.attrs)


def parse_uops(text):
    """List of Uop, or None for REP strings' rows with `|`, which are kept as text."""
    if text == '-':
        return []
    if '|' in text:
        return None
    out = []
    for word in text.split('+'):
        times, word = (int(word.split('*')[0]), word.split('*')[1]) if '*' in word else (1, word)
        head, *attrs = word.split(':')
        if head in ('nop', 'elim'):
            u = Uop('', 0, attrs, head)
        else:
            ports, latency = head[1:].split('/')
            u = Uop(''.join(sorted(ports)), int(latency), attrs)
        out += [u.copy() for _ in range(times)]
    return out


def format_uops(uops):
    if not uops:
        return '-'
    out = []
    for text, group in itertools.groupby(u.text() for u in uops):
        n = len(list(group))
        out.append(text if n == 1 else '%d*%s' % (n, text))
    return '+'.join(out)


def port_bound(port_lists, width, slots, busy=0):
    """Clocks per instruction: of the most loaded set of ports, the issue width, or the unit that is not pipelined."""
    best = max(slots / width, busy)
    distinct = sorted(set(p for p in port_lists if p))
    for n in range(1, len(distinct) + 1):
        for combo in itertools.combinations(distinct, n):
            union = set(''.join(combo))
            best = max(best, sum(1 for p in port_lists if p and set(p) <= union) / len(union))
    return best


def path(uops):
    """Cycles from sources to the first result, along the data flow as in build_compute.c."""
    temps, result, last = [], 0, None
    for u in uops:
        if u.side:
            continue
        start = 0 if ('par' in u.attrs or not temps and last is None) else max(temps or [last or 0])
        done = start + u.latency
        if 'par' not in u.attrs:
            temps = []
        temps.append(done)
        last = done
        if 'out1' in u.attrs:
            return done
        result = done
    return result


LOGIC = re.compile(r'^V?(P(AND|OR|XOR|ANDN)[DQ]?|(AND|OR|XOR|ANDN)P[SD])$')
IDIOM = (re.compile(r'^(V?PXOR[DQ]?|V?XORP[SD]|V?PSUB(US|S)?[BWDQ]|V?PCMPGT[BWDQ]|V?PCMPEQ[BWDQ]|XOR|SUB|SBB|CMP|'
                    r'V?ANDNP[SD]|V?PANDN|SH[LR]D)$'))
# Short names in the files: VEX forms that omit the first source, or name the destination twice.
SAME = {'AESKEYGEN': 'AESKEYGENASSIST', 'VAESKEYGEN': 'VAESKEYGENASSIST', 'JE': 'JZ', 'JNE': 'JNZ', 'CMOVE': 'CMOVZ',
        'SETE': 'SETZ', 'SAL': 'SHL'}


def measurements(path_, fold=None):
    """(held out?, text, latency or None, throughput or None) of each line with a measurement.  Every fifth is held out;
    fold (k, n) also leaves out every n-th of the others, from the k-th on (FOLDS)."""
    def clocks(t):
        c = re.search(r'=\s*([0-9.]+)c', t)
        return float(c.group(1)) if c else None
    n = kept = 0
    for line in open(path_, errors='replace'):
        if 'L:' not in line and 'T:' not in line:
            continue
        n += 1
        out = n % 5 == 0
        if not out and fold:
            kept += 1
            out = kept % fold[1] == fold[0]
        m = re.match(r'\s*(?:Inst\s+)?\d+\s+\S+\s*:\s*(.*?)\s+L:(.*?)T:(.*)$', line)
        if m:
            yield out, m.group(1).strip(), clocks(m.group(2)), clocks(m.group(3))


def instlat(path_, forms):
    """{form: (latency or None, throughput or None)} of the rows that are not held out, {form: ...} of those that
    are."""
    used, held = {}, {}
    for out, text, lat, tp in measurements(path_):
        form, same = instlat_form(text, forms)
        if not form:
            continue
        # One-register loops measure the idiom, or something of their own: VPAND xmm1, xmm1, xmm2 takes 1.7 cycles in
        # one version, PAND 1.
        if IDIOM.match(form.split()[0]) or LOGIC.match(form.split()[0]):
            lat = None
        if same and IDIOM.match(form.split()[0]):
            continue
        (held if out else used).setdefault(form, (lat, tp))
    return used, held


def instlat_form(text, forms):
    """The form that a line of InstLatx64 measures, or None for pairs, special operands and sequences; and whether
    all its registers are the same."""
    if '+' in text.split('[')[0] or 'pair' in text or '(' in text.replace('st(i)', 'sti') or '..' in text:
        return None, False
    words = re.sub(r',\s*<xmm0>', '', text).split(None, 1)
    mnemonic = SAME.get(words[0].upper(), words[0].upper())
    ops, numbered = [], len(set(re.findall(r'(?:r|xmm|ymm|mm|xm|ym)([12])\b|r([12])_', text))) > 1
    for o in (words[1].split(',') if len(words) > 1 else []):
        o = o.strip().replace('st(i)', 'st')
        o = re.sub(r'^im8$|^imm8$', 'i8', o)
        o = re.sub(r'^imm(16|32|64)$', r'i\1', o)
        if re.match(r'^r\d_\d+$', o):
            o = 'r' + o.split('_')[1]
        elif re.match(r'^(xmm|ymm|mm)[12]$', o):
            o = o[:-1]
        elif re.match(r'^(xm|ym)[123]?$', o):
            o = o[:2] + 'm'
        o = re.sub(r'^\[m(\d+)\]$', r'm\1', o)
        ops.append(o)
    form = mnemonic + (' ' + ','.join(ops) if ops else '')
    if form not in forms and mnemonic.startswith('V') and len(ops) > 1:
        longer, shorter = mnemonic + ' ' + ','.join([ops[0]] + ops), mnemonic + ' ' + ','.join(ops[1:])
        form = (longer if longer in forms and ops[0] == 'xmm' else shorter if shorter in forms and ops[0] == ops[1]
                else form)
    if mnemonic == 'LEA':
        a = re.sub(r'\s', '', ','.join(words[1].split(',')[1:]))
        parts = {'[r+r]': '[b+i]', '[r64+r64]': '[b+i]', '[r32+r32]': '[b+i]', '[r+r+disp8]': '[b+i+d]',
                 '[r64+r64+disp8]': '[b+i+d]',
                 '[r+r*8]': '[b+i*s]', '[r64+r64*8]': '[b+i*s]', '[r+r*8+disp8]': '[b+i*s+d]',
                 '[r64+r64*8+disp8]': '[b+i*s+d]',
                 '[r64]': '[b]', '[r64+disp8]': '[b+d]'}
        form = 'LEA %s,%s' % (ops[0], parts.get(a, '?'))
    return (form, not numbered) if form in forms else (None, False)
