SELECT run, stage, count(*) AS visits, avg(cycles) AS mean, max(cycles) AS longest
FROM stages GROUP BY run, stage ORDER BY run, stage
