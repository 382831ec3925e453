-- compare_stalls(a, b): cycles with a stall of each reason per run, in two sets of runs as in compare(a, b); largest difference first.
CREATE MACRO compare_stalls(a, b) AS TABLE
  WITH sizes AS (
    SELECT count(DISTINCT run) FILTER (run LIKE a) AS runs_a, count(DISTINCT run) FILTER (run LIKE b) AS runs_b
    FROM traces WHERE (run LIKE a) <> (run LIKE b)),
  stalled AS (
    SELECT run, reason, count(DISTINCT (core, cycle)) AS cycles FROM stalls
    WHERE (run LIKE a) <> (run LIKE b) GROUP BY run, reason),
  sets AS (
    SELECT reason, coalesce(sum(cycles) FILTER (run LIKE a), 0) / nullif(any_value(runs_a), 0) AS cycles_a,
           coalesce(sum(cycles) FILTER (run LIKE b), 0) / nullif(any_value(runs_b), 0) AS cycles_b
    FROM stalled, sizes GROUP BY reason)
  SELECT reason, cycles_a, cycles_b, cycles_b - cycles_a AS difference
  FROM sets ORDER BY abs(cycles_b - cycles_a) DESC, reason;
