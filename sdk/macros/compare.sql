-- compare(a, b): cycles per instruction of two sets of runs, whose names match the patterns a and b (LIKE), with the 95 % interval of the difference (Welch's t).
CREATE MACRO compare(a, b) AS TABLE
  WITH runs AS (SELECT run, sum(cycles) / sum(retired) AS cpi FROM traces WHERE retired > 0 GROUP BY run),
  sets AS (
    SELECT avg(cpi) FILTER (run LIKE a) AS cpi_a, count(*) FILTER (run LIKE a) AS runs_a, var_samp(cpi) FILTER (run LIKE a) AS var_a,
           avg(cpi) FILTER (run LIKE b) AS cpi_b, count(*) FILTER (run LIKE b) AS runs_b, var_samp(cpi) FILTER (run LIKE b) AS var_b
    FROM runs),
  shares AS (SELECT *, var_a / runs_a AS of_a, var_b / runs_b AS of_b FROM sets),
  errors AS (
    SELECT *, sqrt(of_a + of_b) AS error,
           (of_a + of_b) ** 2 / nullif(of_a ** 2 / (runs_a - 1) + of_b ** 2 / (runs_b - 1), 0) AS df
    FROM shares),
  halves AS (SELECT *, CASE WHEN error = 0 THEN 0 ELSE t_quantile(df) * error END AS half FROM errors)
  SELECT runs_a, runs_b, cpi_a, cpi_b, cpi_b - cpi_a AS difference, cpi_b / cpi_a - 1 AS relative,
         cpi_b - cpi_a - half AS from_difference, cpi_b - cpi_a + half AS to_difference
  FROM halves;
