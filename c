490074,,instructions:u,6765867,100.00,0.02,insn per cycle
20297603,,cycles:u,6765867,100.00,,
8159,,L1-dcache-load-misses:u,6765867,100.00,,
