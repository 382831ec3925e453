SELECT run, counter, sum(delta) AS total FROM counters GROUP BY run, counter ORDER BY run, counter
