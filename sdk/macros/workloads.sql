-- workloads(): what each run and core ran: all its tags but commit, commit_time and seed, as one text; its commit, when that was made, its cycles and instructions.
CREATE MACRO workloads() AS TABLE
  SELECT run, core,
         array_to_string(list_sort([concat(e.key, '=', e.value) FOR e IN map_entries(tags) IF e.key NOT IN ('commit', 'commit_time', 'seed')]), ' ') AS workload,
         tags['commit'] AS at_commit,
         -- Seconds since 1970, a date, or when the run was made.
         coalesce(try_cast(tags['commit_time'] AS DOUBLE), epoch(try_cast(tags['commit_time'] AS TIMESTAMP)), started_ms / 1000) AS at_time,
         tags['seed'] AS seed, cycles, retired
  FROM traces WHERE kind = 'cpu';
