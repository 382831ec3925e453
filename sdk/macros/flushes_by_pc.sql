-- flushes_by_pc(n): the n addresses and reasons with most flushed instructions, such as those of mispredicted branches.
CREATE MACRO flushes_by_pc(n) AS TABLE
  WITH places AS (
    SELECT run, core, pc, any_value("text") AS instruction, flush_reason, count(*) AS flushes
    FROM instructions WHERE flush_reason IS NOT NULL GROUP BY run, core, pc, flush_reason),
  ranked AS (SELECT *, row_number() OVER (PARTITION BY run, core ORDER BY flushes DESC, pc, flush_reason) AS place FROM places)
  SELECT run, core, printf('0x%x', pc) AS address, instruction, flush_reason AS reason, flushes
  FROM ranked WHERE place <= n ORDER BY run, core, place;
