-- top_down(): shares of the issue slots that retired, were lost to bad speculation, to the frontend and to the backend, for cores with counters slots_retiring, slots_frontend, …
CREATE MACRO top_down() AS TABLE
  WITH totals AS (
    SELECT run, core, counter, sum(delta) AS n FROM counters WHERE counter LIKE 'slots\_%' ESCAPE '\' GROUP BY run, core, counter)
  SELECT run, core, sum(n)::BIGINT AS slots,
         sum(n) FILTER (counter = 'slots_retiring') / sum(n) AS retiring,
         sum(n) FILTER (counter = 'slots_bad_speculation') / sum(n) AS bad_speculation,
         sum(n) FILTER (counter LIKE 'slots\_frontend%' ESCAPE '\') / sum(n) AS frontend,
         sum(n) FILTER (counter LIKE 'slots\_backend%' ESCAPE '\') / sum(n) AS backend,
         sum(n) FILTER (counter = 'slots_backend_memory') / sum(n) AS backend_memory,
         sum(n) FILTER (counter = 'slots_backend_core') / sum(n) AS backend_core,
         sum(n) FILTER (counter = 'slots_idle') / sum(n) AS idle
  FROM totals GROUP BY run, core HAVING sum(n) > 0 ORDER BY run, core;
