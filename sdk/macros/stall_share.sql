-- stall_share(): how many cycles had a stall of each reason, and their share of all cycles.
CREATE MACRO stall_share() AS TABLE
  SELECT s.run, s.core, s.reason, count(DISTINCT s.cycle) AS cycles, count(*) AS events,
         count(DISTINCT s.cycle) / any_value(t.cycles) AS share
  FROM stalls s JOIN traces t USING (run, core)
  GROUP BY s.run, s.core, s.reason ORDER BY s.run, s.core, cycles DESC, s.reason;
