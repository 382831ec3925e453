-- compare_pcs(a, b, n): the n addresses that cost most more cycles per run in the set b than in a, which are as in compare(a, b). The cost of an instruction is the cycles from the retirement before to its own.
CREATE MACRO compare_pcs(a, b, n) AS TABLE
  WITH sizes AS (
    SELECT count(DISTINCT run) FILTER (run LIKE a) AS runs_a, count(DISTINCT run) FILTER (run LIKE b) AS runs_b
    FROM traces WHERE (run LIKE a) <> (run LIKE b)),
  costs AS (
    SELECT run, pc, "text", end_cycle - lag(end_cycle, 1, -1) OVER (PARTITION BY run, core ORDER BY end_cycle, seq) AS cost
    FROM instructions WHERE outcome = 'retired' AND pc IS NOT NULL AND (run LIKE a) <> (run LIKE b)),
  places AS (
    -- The program may have changed: what is there in b.
    SELECT pc, coalesce(max("text") FILTER (run LIKE b), max("text")) AS instruction,
           coalesce(sum(cost) FILTER (run LIKE a), 0) AS cost_a, count(*) FILTER (run LIKE a) AS retired_a,
           coalesce(sum(cost) FILTER (run LIKE b), 0) AS cost_b, count(*) FILTER (run LIKE b) AS retired_b
    FROM costs GROUP BY pc)
  SELECT printf('0x%x', pc) AS address, instruction, retired_a / nullif(runs_a, 0) AS retired_a, retired_b / nullif(runs_b, 0) AS retired_b,
         cost_a / nullif(runs_a, 0) AS cycles_a, cost_b / nullif(runs_b, 0) AS cycles_b,
         cost_b / nullif(runs_b, 0) - cost_a / nullif(runs_a, 0) AS difference
  FROM places, sizes ORDER BY difference DESC NULLS LAST, pc LIMIT n;
