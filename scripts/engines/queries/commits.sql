-- Cycles by workload and commit, with the spread over seeds.
SELECT program, config, "commit", count(*) AS runs, avg(cycles) AS mean, stddev_samp(cycles) AS spread
FROM traces GROUP BY program, config, "commit" ORDER BY program, config, "commit"
