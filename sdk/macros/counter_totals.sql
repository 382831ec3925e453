-- counter_totals(): by how much each counter changed in each run, and per thousand cycles: cache misses, mispredicts.
CREATE MACRO counter_totals() AS TABLE
  SELECT c.run, c.core, c.counter, sum(c.delta)::BIGINT AS total, 1000 * sum(c.delta) / any_value(t.cycles) AS per_kilocycle
  FROM counters c JOIN traces t USING (run, core)
  GROUP BY c.run, c.core, c.counter ORDER BY c.run, c.core, c.counter;
