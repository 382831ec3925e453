/** Runs the simulators of a farm, two at a time, against one daemon. Each model of the core is built once. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { formatHex } from '../lib/image.js';
import { DEMO, FAST_BUILD, make, TESTS } from '../lib/simulator.js';
import type { Parameters, PlannedRun } from './plan.js';
import { PROGRAMS } from './programs.js';

const CLI = join(dirname(DEMO.replace(/\/$/, '')), 'sdk/bin/uscope.js');
const SIMULATOR_MS = 60_000;
const run = promisify(execFile);

/** Folder of the model with these parameters; without any, that of the demo's tests. */
export function buildModel(parameters: Parameters): string {
  const entries = Object.entries(parameters).sort();
  if (entries.length === 0) {
    make(...FAST_BUILD);
    return join(DEMO, `obj_dir_${TESTS}`);
  }
  const name = `farm_${entries.map(([key, value]) => `${key}${value}`).join('_')}`;
  const options = entries.map(([key, value]) => `-G${key}=${value}`).join(' ');
  make(`CONFIG=${name}`, `PARAMS=${options}`, 'LTO=0', 'ONE_UNIT=1', 'OPT=-O1');
  return join(DEMO, `obj_dir_${name}`);
}

export interface Simulated {
  readonly run: PlannedRun;
  readonly file: string;
}

/** @param onRun after each run, with its trace */
export async function simulateFarm(
  runs: readonly PlannedRun[],
  folder: string,
  { jobs = 2, onProgress }: { jobs?: number; onProgress?: (done: number) => void } = {},
): Promise<Simulated[]> {
  const models = new Map<string, string>();
  for (const { parameters } of runs) {
    const key = JSON.stringify(parameters);
    if (!models.has(key)) models.set(key, buildModel(parameters));
  }
  const traces = join(folder, 'traces');
  mkdirSync(traces, { recursive: true });
  const endpoint = `ipc://${join(folder, 'daemon.sock')}`;
  const daemon = startDaemon(endpoint, traces);
  const done: Simulated[] = [];
  let next = 0;
  const work = async (worker: number): Promise<void> => {
    for (let index = next++; index < runs.length; index = next++) {
      const one = runs[index]!;
      const model = models.get(JSON.stringify(one.parameters))!;
      await simulate(one, model, { endpoint, image: join(folder, `program${worker}.hex`) });
      done[index] = { run: one, file: join(traces, `${one.name}.uscope`) };
      onProgress?.(index + 1);
    }
  };
  try {
    await daemon.ready;
    await Promise.all(Array.from({ length: jobs }, (_, worker) => work(worker)));
  } finally {
    await daemon.stop();
  }
  return done;
}

async function simulate(
  { name, program, seed, isSlow }: PlannedRun,
  model: string,
  { endpoint, image }: { endpoint: string; image: string },
): Promise<void> {
  writeFileSync(image, formatHex(PROGRAMS[program]!(seed, isSlow).words));
  const report = `${image}.json`;
  const args = [`+firmware=${image}`, `+report=${report}`, `+trace=${name}`, '+quiet', '+max-cycles=200000'];
  args.push(`+schema=${join(DEMO, 'schema.yaml')}`);
  const environment = { ...process.env, USCOPE_ENDPOINT: endpoint };
  // The harness expects the program of the demo: its verdict on the output of another one says nothing.
  await run(join(model, 'Vtop'), args, { env: environment, timeout: SIMULATOR_MS }).catch((error) => {
    if (error.code !== 1) throw new Error(`${name}: the simulator failed: ${error.message}\n${error.stderr}`);
  });
  const { halted, cause } = JSON.parse(readFileSync(report, 'utf8')) as { halted: boolean; cause: number };
  if (!halted || cause !== 11) throw new Error(`${name}: the program did not end with ECALL`);
}

interface Daemon {
  /** It listens. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

function startDaemon(endpoint: string, traces: string): Daemon {
  const args = [CLI, 'serve', '--endpoint', endpoint, '--out', traces, '--durability', 'none', '--no-index'];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const ready = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => reject(new Error(`the daemon ended with status ${status}:\n${said}`)));
    child.stderr?.on('data', (data: Buffer) => {
      said = `${said}${data}`.slice(-4096);
      if (/listen|ready|endpoint/i.test(said)) resolve();
    });
  });
  ready.catch(() => {});
  return {
    ready,
    stop: async () => {
      child.kill('SIGTERM');
      const status = await ended;
      if (status !== 0) throw new Error(`the daemon ended with status ${status}:\n${said}`);
    },
  };
}
