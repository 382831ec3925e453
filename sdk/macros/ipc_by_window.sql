-- ipc_by_window(cycles): instructions retired per cycle, of each run and core and window of that number of cycles.
CREATE MACRO ipc_by_window(cycles_each) AS TABLE
  SELECT run, core, (end_cycle // cycles_each) * cycles_each AS from_cycle, count(*) AS retired, count(*) / cycles_each AS ipc
  FROM instructions WHERE outcome = 'retired' GROUP BY ALL ORDER BY run, core, from_cycle;
