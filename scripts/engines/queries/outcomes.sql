SELECT run, outcome, flush_reason, count(*) AS n, min(birth_cycle) AS first, max(end_cycle) AS last
FROM instructions GROUP BY run, outcome, flush_reason ORDER BY run, outcome, flush_reason
