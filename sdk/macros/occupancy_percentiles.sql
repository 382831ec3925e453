-- occupancy_percentiles(): slots of each buffer that were taken at the end of a cycle: mean, median, 90th and 99th percentile, greatest, and the share of cycles in which it was full.
CREATE MACRO occupancy_percentiles() AS TABLE
  WITH ranks AS (
    SELECT *, sum(cycles) OVER (PARTITION BY run, core, buffer ORDER BY taken) AS up_to, sum(cycles) OVER (PARTITION BY run, core, buffer) AS total
    FROM occupancy)
  SELECT run, core, buffer, any_value(slots) AS slots, sum(taken * cycles) / sum(cycles) AS mean,
         min(taken) FILTER (up_to >= ceil(0.5 * total)) AS median, min(taken) FILTER (up_to >= ceil(0.9 * total)) AS p90,
         min(taken) FILTER (up_to >= ceil(0.99 * total)) AS p99, max(taken) AS greatest,
         coalesce(sum(cycles) FILTER (taken = slots), 0) / sum(cycles) AS full_share
  FROM ranks GROUP BY run, core, buffer ORDER BY run, core, buffer;
