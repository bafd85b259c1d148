-- SPDX-License-Identifier: GPL-2.0-or-later
-- an inventory: objects, strings, sorting, closures
local Item = {} ; Item.__index = Item
function Item.new(i)
	return setmetatable({ id = i, name = "item" .. i % 977, price = (i * 7919) % 1000 / 10, tags = {} }, Item)
end
function Item:tag(t) self.tags[#self.tags + 1] = t end
function Item:total(n) return self.price * n end
local items = {}
for i = 1, 6000 do local x = Item.new(i); x:tag("t" .. i % 31); x:tag(i % 7); items[i] = x end
local by = {}
for _, x in ipairs(items) do by[x.name] = (by[x.name] or 0) + x:total(3) end
table.sort(items, function(a, b) if a.price ~= b.price then return a.price < b.price end return a.id < b.id end)
local parts = {}
for i = 1, 4000 do parts[#parts + 1] = string.format("%d:%s", items[i].id, items[i].name:upper():sub(1, 6)) end
local text = table.concat(parts, ",")
local n = 0
for w in text:gmatch("%d+:(%a+)") do n = n + #w end
print(n, by.item5)
