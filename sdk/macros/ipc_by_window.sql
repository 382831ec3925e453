-- ipc_by_window(cycles): instructions retired per cycle, of each run and core and window of that number of cycles; the last window may be shorter.
CREATE MACRO ipc_by_window(cycles_each) AS TABLE
  WITH windows AS (
    SELECT run, core, unnest(range(0, cycles, cycles_each)) AS from_cycle, cycles AS all_cycles FROM traces WHERE kind = 'cpu' AND cycles IS NOT NULL),
  counted AS (
    SELECT run, core, (end_cycle // cycles_each) * cycles_each AS from_cycle, count(*) AS retired
    FROM instructions WHERE outcome = 'retired' GROUP BY ALL)
  SELECT w.run, w.core, w.from_cycle, least(cycles_each, w.all_cycles - w.from_cycle) AS cycles, coalesce(c.retired, 0) AS retired,
         coalesce(c.retired, 0) / least(cycles_each, w.all_cycles - w.from_cycle) AS ipc
  FROM windows w LEFT JOIN counted c ON c.run = w.run AND c.core = w.core AND c.from_cycle = w.from_cycle
  ORDER BY w.run, w.core, w.from_cycle;
