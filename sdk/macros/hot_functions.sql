-- hot_functions(n): the n functions whose retired instructions cost most cycles, of each run and core; their names are those of the program given with --elf. The cost of an instruction is the cycles from the retirement before to its own.
CREATE MACRO hot_functions(n) AS TABLE
  WITH program AS (
    SELECT CASE WHEN count(*) = 0 THEN error('hot_functions has no names of functions: give the program that ran with --elf') END AS missing FROM functions),
  costs AS (
    SELECT run, core, pc, end_cycle - lag(end_cycle, 1, -1) OVER (PARTITION BY run, core ORDER BY end_cycle, seq) AS cost
    FROM instructions WHERE outcome = 'retired' AND pc IS NOT NULL),
  places AS (SELECT run, core, pc, count(*) AS retired, sum(cost)::BIGINT AS cycles FROM costs GROUP BY run, core, pc),
  inside AS (
    SELECT p.*, CASE WHEN p.pc < f.to_pc THEN f.name END AS function
    FROM (SELECT places.* FROM places, program WHERE missing IS NULL) p ASOF LEFT JOIN functions f ON p.pc >= f.from_pc),
  sums AS (SELECT run, core, function, sum(retired)::BIGINT AS retired, sum(cycles)::BIGINT AS cycles FROM inside GROUP BY run, core, function),
  ranked AS (
    SELECT *, cycles / sum(cycles) OVER (PARTITION BY run, core) AS share,
           row_number() OVER (PARTITION BY run, core ORDER BY cycles DESC, function) AS place
    FROM sums)
  SELECT run, core, function, retired, cycles, share FROM ranked WHERE place <= n ORDER BY run, core, place;
