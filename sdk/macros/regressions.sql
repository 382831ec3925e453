-- regressions(since): workloads that take more cycles since a commit than before it, and since which one, beyond what chance explains (95 % for all comparisons together). Commits are ordered by the tag commit_time; runs that differ in no tag but commit, commit_time and seed are of one workload.
CREATE MACRO regressions(since, least_change := 0.001) AS TABLE
  WITH runs AS (SELECT * FROM workloads() WHERE at_commit IS NOT NULL AND at_time IS NOT NULL AND cycles IS NOT NULL),
  commits AS (SELECT at_commit, min(at_time) AS made FROM runs GROUP BY at_commit),
  start AS (
    SELECT CASE WHEN count(*) = 0 THEN error('no run has the tag commit=' || since) ELSE any_value(made) END AS made FROM commits WHERE at_commit = since),
  timed AS (SELECT r.*, c.made FROM runs r JOIN commits c USING (at_commit)),
  before AS (
    SELECT workload, core, count(*) AS runs_before, avg(cycles) AS cycles_before, var_samp(cycles) AS var_before
    FROM timed, start WHERE timed.made < start.made GROUP BY workload, core),
  candidates AS (
    SELECT DISTINCT t.workload, t.core, t.at_commit, t.made FROM timed t, start WHERE t.made >= start.made),
  after AS (
    SELECT c.workload, c.core, c.at_commit, count(*) AS runs_after, avg(t.cycles) AS cycles_after, var_samp(t.cycles) AS var_after
    FROM candidates c JOIN timed t ON t.workload = c.workload AND t.core = c.core AND t.made >= c.made
    GROUP BY c.workload, c.core, c.at_commit),
  pairs AS (
    SELECT *, coalesce(var_before, var_after) / runs_before AS of_before, coalesce(var_after, var_before) / runs_after AS of_after,
           greatest(runs_before - 1, 1) AS free_before, greatest(runs_after - 1, 1) AS free_after
    FROM before JOIN after USING (workload, core)),
  tested AS (
    SELECT *, cycles_after - cycles_before AS difference, sqrt(of_before + of_after) AS error,
           (of_before + of_after) ** 2 / nullif(of_before ** 2 / free_before + of_after ** 2 / free_after, 0) AS df
    FROM pairs),
  scored AS (
    -- Runs that are all alike differ by exactly that.
    SELECT *, CASE WHEN error > 0 THEN t_quantile(df) * error WHEN error = 0 THEN 0 END AS half, CASE WHEN error > 0 THEN t_score(difference / error, df) WHEN error = 0 THEN sign(difference) * 'infinity'::DOUBLE END AS score,
           normal_quantile(0.025 / count(*) OVER ()) AS needed
    FROM tested)
  SELECT workload, core, at_commit AS since_commit, runs_before, runs_after, cycles_before, cycles_after, difference / cycles_before AS relative,
         (difference - half) / cycles_before AS from_relative, (difference + half) / cycles_before AS to_relative, score
  FROM scored WHERE difference > least_change * cycles_before
  QUALIFY score > needed AND row_number() OVER (PARTITION BY workload, core ORDER BY score DESC, difference DESC, at_commit) = 1
  ORDER BY relative DESC, workload, core;
