-- Cycles between retirements, as hot_functions and compare_pcs have them.
SELECT run, pc, sum(cost) AS cycles, count(*) AS retired
FROM (SELECT run, pc, seq, end_cycle - lag(end_cycle, 1, -1) OVER (PARTITION BY run, core ORDER BY end_cycle, seq) AS cost
      FROM instructions WHERE outcome = 'retired') costs
GROUP BY run, pc ORDER BY run, cycles DESC, pc
