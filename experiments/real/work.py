# SPDX-License-Identifier: GPL-2.0-or-later
import json, collections
class Order:
    def __init__(self, d): self.id, self.city, self.amount = d["id"], d["city"], d["amount"]
    def vat(self): return self.amount * 1.19
rows = [json.loads(line) for line in open("rows4k.json")]
orders = [Order(r) for r in rows]
by = collections.defaultdict(float)
for o in orders: by[o.city] += o.vat()
orders.sort(key=lambda o: (o.city, -o.amount))
text = "\n".join("%d;%s;%.2f" % (o.id, o.city, o.amount) for o in orders)
words = collections.Counter(text.replace(";", " ").split())
print(len(text), words.most_common(2), round(by["c7"], 2))
