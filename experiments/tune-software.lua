-- SPDX-License-Identifier: GPL-2.0-or-later
-- a little of everything: closures, tables, strings, sorting
local n = tonumber(arg[1]) or 100
local words, count = {}, {}
local seed = 42
local function rnd(m) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % m end
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local sum = 0
for i = 1, n do
	local w = "w" .. rnd(50)
	words[#words + 1] = w
	count[w] = (count[w] or 0) + 1
	if i % 20 == 0 then table.sort(words, function(a, b) return a < b end); words = {} end
	sum = sum + fib(i % 9) + #w:gsub("%d", "x"):upper()
	local t = { x = i, y = rnd(7) }
	setmetatable(t, { __index = function(_, k) return k end })
	if t.y == 3 then sum = sum + #t.foo elseif t.y > 3 then sum = sum - 1 else sum = sum + t.x end
end
print(sum, count.w7)
