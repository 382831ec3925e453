-- hot_pcs(n): the n addresses whose retired instructions spent most cycles in the pipeline, of each run and core.
CREATE MACRO hot_pcs(n) AS TABLE
  WITH places AS (
    SELECT run, core, pc, any_value("text") AS instruction, count(*) AS retired,
           sum(end_cycle - birth_cycle)::BIGINT AS cycles, avg(end_cycle - birth_cycle) AS cycles_each
    FROM instructions WHERE outcome = 'retired' AND pc IS NOT NULL AND birth_cycle IS NOT NULL GROUP BY run, core, pc),
  ranked AS (SELECT *, row_number() OVER (PARTITION BY run, core ORDER BY cycles DESC, pc) AS place FROM places)
  SELECT run, core, printf('0x%x', pc) AS address, instruction, retired, cycles, cycles_each
  FROM ranked WHERE place <= n ORDER BY run, core, place;
