-- ipc(): instructions retired per cycle, of each run and core.
CREATE MACRO ipc() AS TABLE
  SELECT run, core, retired, cycles, retired / cycles AS ipc
  FROM traces WHERE kind = 'cpu' ORDER BY run, core;
