-- compare(a, b): cycles per instruction of two sets of runs, whose names match the patterns a and b (LIKE), with the 95 % interval of the difference (Welch's t). Runs that match both are in neither.
CREATE MACRO compare(a, b) AS TABLE
  WITH rates AS (SELECT run, sum(cycles) / sum(retired) AS cpi FROM traces WHERE retired > 0 GROUP BY run),
  runs AS (
    SELECT cpi, run LIKE a AND NOT run LIKE b AS in_a, run LIKE b AND NOT run LIKE a AS in_b, run LIKE a AND run LIKE b AS in_both FROM rates),
  sets AS (
    SELECT count(*) FILTER (in_both) AS runs_both,
           avg(cpi) FILTER (in_a) AS cpi_a, count(*) FILTER (in_a) AS runs_a, var_samp(cpi) FILTER (in_a) AS var_a,
           avg(cpi) FILTER (in_b) AS cpi_b, count(*) FILTER (in_b) AS runs_b, var_samp(cpi) FILTER (in_b) AS var_b
    FROM runs),
  halves AS (SELECT *, welch_half(var_a, runs_a, var_b, runs_b) AS half FROM sets)
  SELECT runs_a, runs_b, runs_both, cpi_a, cpi_b, cpi_b - cpi_a AS difference, cpi_b / cpi_a - 1 AS relative,
         cpi_b - cpi_a - half AS from_difference, cpi_b - cpi_a + half AS to_difference
  FROM halves;
