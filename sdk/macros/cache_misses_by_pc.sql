-- cache_misses_by_pc(n): the n addresses whose instructions waited most for a cache, with how many of them waited and how many cycles. A stall names its instruction, or it is that of the one in the stage fetch_stage (instruction cache) or data_stage (data cache).
CREATE MACRO cache_misses_by_pc(n, fetch_stage := 'fetch', data_stage := 'memory') AS TABLE
  WITH waits AS (
    SELECT run, core, cycle, reason, id, CASE WHEN reason LIKE 'i%' THEN fetch_stage ELSE data_stage END AS in_stage
    FROM stalls WHERE reason LIKE '%cache%miss%' OR reason LIKE '%miss%cache%'),
  visits AS (SELECT run, core, stage AS in_stage, seq, from_cycle, from_cycle + cycles AS to_cycle FROM stages WHERE stage IN (fetch_stage, data_stage)),
  named AS (
    SELECT w.run, w.core, w.cycle, w.reason, i.seq
    FROM waits w JOIN instructions i ON i.run = w.run AND i.core = w.core AND i.id = w.id AND w.cycle >= i.birth_cycle AND w.cycle <= i.end_cycle),
  unnamed AS (
    SELECT w.run, w.core, w.cycle, w.reason, CASE WHEN w.cycle < v.to_cycle THEN v.seq END AS seq
    FROM waits w ASOF LEFT JOIN visits v ON v.run = w.run AND v.core = w.core AND v.in_stage = w.in_stage AND w.cycle >= v.from_cycle
    WHERE w.id IS NULL),
  causes AS (FROM named UNION ALL FROM unnamed),
  places AS (
    SELECT c.run, c.core, i.pc, any_value(i."text") AS instruction, c.reason, count(DISTINCT c.seq) AS misses, count(DISTINCT c.cycle) AS cycles
    FROM causes c LEFT JOIN instructions i ON i.run = c.run AND i.core = c.core AND i.seq = c.seq
    GROUP BY c.run, c.core, i.pc, c.reason),
  ranked AS (SELECT *, row_number() OVER (PARTITION BY run, core ORDER BY cycles DESC, pc, reason) AS place FROM places)
  SELECT run, core, printf('0x%x', pc) AS address, instruction, reason, misses, cycles
  FROM ranked WHERE place <= n ORDER BY run, core, place;
