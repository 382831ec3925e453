-- compare(a, b): cycles per instruction of two sets of runs, whose names match the patterns a and b (LIKE), with the 95 % interval of the difference.
CREATE MACRO compare(a, b) AS TABLE
  WITH runs AS (SELECT run, sum(cycles) / sum(retired) AS cpi FROM traces GROUP BY run),
  sets AS (
    SELECT avg(cpi) FILTER (run LIKE a) AS cpi_a, count(*) FILTER (run LIKE a) AS runs_a, var_samp(cpi) FILTER (run LIKE a) AS var_a,
           avg(cpi) FILTER (run LIKE b) AS cpi_b, count(*) FILTER (run LIKE b) AS runs_b, var_samp(cpi) FILTER (run LIKE b) AS var_b
    FROM runs),
  errors AS (SELECT *, 1.96 * sqrt(var_a / runs_a + var_b / runs_b) AS half FROM sets)
  SELECT runs_a, runs_b, cpi_a, cpi_b, cpi_b - cpi_a AS difference, cpi_b / cpi_a - 1 AS relative,
         cpi_b - cpi_a - half AS from_difference, cpi_b - cpi_a + half AS to_difference
  FROM errors;
