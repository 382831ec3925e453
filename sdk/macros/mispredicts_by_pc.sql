-- mispredicts_by_pc(n): the n addresses of branches and jumps after which most instructions were flushed as mispredicted: how often, and how many were flushed.
CREATE MACRO mispredicts_by_pc(n) AS TABLE
  WITH flushes AS (
    SELECT run, core, coalesce(thread, -1) AS on_thread, flush_cycle, min(seq) AS first_seq, count(*) AS squashed
    FROM instructions WHERE flush_reason LIKE '%mispredict%' GROUP BY run, core, coalesce(thread, -1), flush_cycle),
  older AS (SELECT run, core, coalesce(thread, -1) AS on_thread, seq, pc, "text" FROM instructions),
  causes AS (
    SELECT f.run, f.core, b.pc, b."text", f.squashed
    FROM flushes f ASOF JOIN older b ON b.run = f.run AND b.core = f.core AND b.on_thread = f.on_thread AND f.first_seq > b.seq),
  places AS (
    SELECT run, core, pc, any_value("text") AS instruction, count(*) AS mispredicts, sum(squashed)::BIGINT AS squashed
    FROM causes GROUP BY run, core, pc),
  ranked AS (SELECT *, row_number() OVER (PARTITION BY run, core ORDER BY mispredicts DESC, pc) AS place FROM places)
  SELECT run, core, printf('0x%x', pc) AS address, instruction, mispredicts, squashed
  FROM ranked WHERE place <= n ORDER BY run, core, place;
