SELECT program, pc, max(i.text) AS instruction, count(*) AS retired, sum(end_cycle - birth_cycle) AS cycles
FROM instructions i JOIN traces t ON i.run = t.run AND i.core = t.core
WHERE outcome = 'retired' GROUP BY program, pc ORDER BY cycles DESC, program, pc LIMIT 50
