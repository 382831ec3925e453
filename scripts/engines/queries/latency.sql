SELECT class, count(*) AS n, percentile_disc(0.5) WITHIN GROUP (ORDER BY end_cycle - birth_cycle) AS median,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY end_cycle - birth_cycle) AS p99, max(end_cycle - birth_cycle) AS greatest
FROM instructions WHERE outcome = 'retired' GROUP BY class ORDER BY class
