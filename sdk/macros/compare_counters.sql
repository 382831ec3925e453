-- compare_counters(a, b): change of each counter per run, in two sets of runs as in compare(a, b), with the 95 % interval of the difference; largest relative change first.
CREATE MACRO compare_counters(a, b) AS TABLE
  WITH totals AS (
    SELECT run, counter, sum(delta) AS total FROM counters
    WHERE (run LIKE a) <> (run LIKE b) GROUP BY run, counter),
  sets AS (
    SELECT counter,
           avg(total) FILTER (run LIKE a) AS mean_a, count(*) FILTER (run LIKE a) AS runs_a, var_samp(total) FILTER (run LIKE a) AS var_a,
           avg(total) FILTER (run LIKE b) AS mean_b, count(*) FILTER (run LIKE b) AS runs_b, var_samp(total) FILTER (run LIKE b) AS var_b
    FROM totals GROUP BY counter),
  halves AS (SELECT *, welch_half(var_a, runs_a, var_b, runs_b) AS half FROM sets)
  SELECT counter, mean_a, mean_b, mean_b - mean_a AS difference, mean_b / nullif(mean_a, 0) - 1 AS relative,
         mean_b - mean_a - half AS from_difference, mean_b - mean_a + half AS to_difference
  FROM halves ORDER BY abs(mean_b - mean_a) / greatest(abs(mean_a), 1) DESC, counter;
