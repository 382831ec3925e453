SELECT s.run, s.reason, count(DISTINCT s.cycle) AS stalled, count(DISTINCT s.cycle) / max(t.cycles) AS share
FROM stalls s JOIN traces t ON s.run = t.run AND s.core = t.core
GROUP BY s.run, s.reason ORDER BY s.run, s.reason
