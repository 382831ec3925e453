-- Runs, commits and rates: tags are columns and a map.
SELECT run, core, "commit", tags['seed'] AS seed, dut['cpu.isa'] AS isa, retired, cycles, retired / cycles AS ipc
FROM traces ORDER BY run, core
