-- SPDX-License-Identifier: GPL-2.0-or-later
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT, amount REAL, note TEXT);
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
	INSERT INTO customers SELECT i, 'customer ' || i, 'city ' || (i * 7919 % 97) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
	INSERT INTO orders SELECT i, 1 + (i * 7907) % 3000, (i * 31 % 1000) / 10.0, 'note ' || (i * 17 % 1009) FROM n;
CREATE INDEX by_customer ON orders(customer);
SELECT city, count(*), sum(amount) FROM customers c JOIN orders o ON o.customer = c.id
	GROUP BY city ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM orders WHERE note LIKE '%77%';
SELECT c.name, max(o.amount) FROM orders o JOIN customers c ON c.id = o.customer WHERE o.amount > 50
	GROUP BY c.name ORDER BY 2 DESC, 1 LIMIT 3;
