-- slowest_instructions(n): the n retired instructions that took most cycles, of each run and core.
CREATE MACRO slowest_instructions(n) AS TABLE
  SELECT run, core, seq, birth_cycle, end_cycle - birth_cycle AS cycles, printf('0x%x', pc) AS address, "text" AS instruction
  FROM instructions WHERE outcome = 'retired' AND birth_cycle IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY run, core ORDER BY end_cycle - birth_cycle DESC, seq) <= n
  ORDER BY run, core, cycles DESC, seq;
