SELECT buffer, max(slots) AS slots, sum(taken * cycles) / sum(cycles) AS mean FROM occupancy GROUP BY buffer ORDER BY buffer
