-- latency(): cycles from birth to retirement, of each class of instruction: median, 90th and 99th percentile, greatest.
CREATE MACRO latency() AS TABLE
  SELECT run, core, class, count(*) AS retired, quantile_disc(end_cycle - birth_cycle, 0.5) AS median,
         quantile_disc(end_cycle - birth_cycle, 0.9) AS p90, quantile_disc(end_cycle - birth_cycle, 0.99) AS p99,
         max(end_cycle - birth_cycle) AS greatest
  FROM instructions WHERE outcome = 'retired' AND birth_cycle IS NOT NULL GROUP BY run, core, class ORDER BY run, core, retired DESC, class;
