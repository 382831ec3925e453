/** A core on Icarus, its RVFI followed from Python with cocotb 1.9 and 2.1; the trace against the log that Verilator wrote of the same program. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { here, root, run, Unavailable } from './commands.mjs';
import { compare } from './compare.mjs';
import { filesOf } from './sources.mjs';

const VERSIONS = ['1.9', '2.1'];
/** A trace of fewer instructions proves nothing. */
const LEAST = 1000;
const CLI = join(root, 'sdk/bin/uscope.js');
const SCHEMA = join(root, 'sv/uscope_rvfi.yaml');

/** By version of cocotb: what `compare` says of the first part of the program. */
export async function followFromPython(core, folder, work, programs, log) {
  const results = {};
  for (const version of VERSIONS) {
    const python = environment(version, programs.environments);
    const out = join(work, `traces_cocotb_${version}`);
    rmSync(out, { recursive: true, force: true });
    const sources = [
      ...filesOf(core, folder, work),
      join(here, 'common/memory.sv'),
      join(here, core.id, 'top.sv'),
    ];
    const simulate = [
      python,
      join(here, 'cocotb/simulate.py'),
      join(work, `icarus_${version}`),
      core.defines.join(','),
    ];
    run(process.execPath, [CLI, 'run', '--out', out, '--', ...simulate, ...sources], {
      env: {
        ...process.env,
        PYTHONPATH: `${join(root, 'cocotb-adapter/src')}:${join(here, 'cocotb')}`,
        PROGRAM: programs.image,
        RVFI_SCHEMA: SCHEMA,
        CYCLES: `${core.cocotb.cycles}`,
        ISA: core.march.toUpperCase(),
        CORE: core.id,
      },
    });
    const { instructions, differences, shown } = await compare(join(out, 'core0.uscope'), log, {
      onlyFirst: true,
    });
    if (instructions < LEAST)
      throw new Error(`cocotb ${version}: only ${instructions} instructions in the trace`);
    results[version] = { instructions, differences, shown };
  }
  return results;
}

/** A Python with this version of cocotb and what the adapter needs. */
function environment(version, folder) {
  const where = join(folder, `cocotb-${version}`);
  const python = join(where, 'bin/python');
  if (existsSync(join(where, 'complete'))) return python;
  try {
    run('python3', ['-m', 'venv', where]);
    run(python, [
      '-m',
      'pip',
      'install',
      '-q',
      '--disable-pip-version-check',
      `cocotb==${version}.*`,
      'pyzmq',
      'msgpack',
    ]);
    run('touch', [join(where, 'complete')]);
  } catch (error) {
    throw new Unavailable(`cocotb ${version} cannot be installed: ${error.message.split('\n')[0]}`);
  }
  return python;
}
