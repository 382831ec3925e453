/** The arguments of the demo, read before anything is built. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(dirname(fileURLToPath(import.meta.url)));

const USAGE = `usage: npm run demo -- [OPTIONS] [-- SIMULATOR ARGUMENTS]

Builds a RISC-V core with Verilator, traces it, checks the trace against the core's own counters, and prints a summary.

  --core in-order|o3   the core of five stages (default), or the out-of-order core
  --cores N            1 (default) to 4 cores on one memory
  --threads T          the simulator of several cores with T threads; first: make -C verilator-demo soc THREADS=T
  --build NAME         the simulator that make built with CONFIG=NAME
  --out DIR            where the traces go (default: a folder below verilator-demo/out)
  --help               this text
`;

/** Ends the process after `--help`, and with status 2 for wrong arguments. */
export function readArguments() {
  try {
    const known = {
      out: { type: 'string' },
      core: { type: 'string', default: 'in-order' },
      cores: { type: 'string', default: '1' },
      threads: { type: 'string', default: '1' },
      build: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    };
    const { values, positionals: rest } = parseArgs({ options: known, allowPositionals: true });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const cores = Number(values.cores);
    if (![1, 2, 3, 4].includes(cores)) throw new Error(`--cores ${values.cores}: there are 1 to 4`);
    const { core } = values;
    if (core !== 'in-order' && core !== 'o3') throw new Error(`--core ${core}: there are in-order and o3`);
    if (core === 'o3' && cores > 1) throw new Error('--core o3 goes with one core');
    const threads = Number(values.threads);
    if (!Number.isInteger(threads) || threads < 1) throw new Error(`--threads ${values.threads}: at least 1`);
    if (threads > 1 && cores === 1) throw new Error('--threads goes with --cores 2 to 4');
    const folder = core === 'o3' ? 'out/o3' : cores > 1 ? `out/cores${cores}` : 'out';
    return {
      options: { core, cores, threads, build: values.build, out: values.out ?? join(here, folder) },
      positionals: rest,
    };
  } catch (error) {
    process.stderr.write(`${error.message}

${USAGE}`);
    process.exit(2);
  }
}
