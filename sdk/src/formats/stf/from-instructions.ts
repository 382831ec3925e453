/** What the harts of a µScope trace retired, as STF: one file per hart. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import {
  type CpuCore,
  findCore,
  findCores,
  type Instruction,
  InstructionEnd,
} from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { AddressJoin } from './address-join.js';
import { type ExportOptions, iemOf } from './export-options.js';
import { HartWriter } from './hart-writer.js';

/**
 * @throws UscopeError CONVERT_SOURCE (no core, no instruction, no code or addresses, compressed instructions stored expanded), READER_NAME,
 *   ENV_MISSING, FORMAT_*
 */
export async function instructionsToStf(
  trace: Trace,
  files: OutputFiles,
  options: ExportOptions,
  context: ConversionContext,
): Promise<void> {
  const cores = options.core === undefined ? findCores(trace) : [findCore(trace, options.core)];
  for (const core of cores) requireCode(core);
  const harts: HartWriter[] = [];
  for (const [index, core] of cores.entries()) {
    const onProgress = (part: number): void => context.onProgress?.((index + part) / cores.length);
    const open = async (thread: number | null): Promise<HartWriter> => {
      const hasParts = cores.length > 1 || thread !== null;
      const part = thread === null ? core.name : `${core.name}-thread${thread}`;
      const output = await files.open(hasParts ? part.replaceAll('/', '-') : null);
      const hart = new HartWriter(output, trace, core, iemOf(core, options), options, context);
      harts.push(hart);
      return hart;
    };
    await exportCore(trace, core, open, { ...context, onProgress });
    reportRest(trace, core, context);
  }
  if (harts.length === 0) {
    throw new UscopeError('CONVERT_SOURCE', 'no instruction of any core retired (or the trace has no core)');
  }
}

/** An instruction needs an address and its machine code. */
function requireCode({ name, entities }: CpuCore): void {
  const missing = [
    ...(entities && entities.pcField >= 0 ? [] : ['pc']),
    ...(entities && entities.bitsField >= 0 ? [] : ['inst_bits']),
  ];
  if (missing.length === 0) return;
  throw new UscopeError(
    'CONVERT_SOURCE',
    `the instructions of ${name} have no field ${missing.join(' and no ')}: STF needs both`,
  );
}

/** Instructions between two reports of the progress. */
const INSTRUCTIONS_PER_LOOK = 1024;

async function exportCore(
  trace: Trace,
  core: CpuCore,
  open: (thread: number | null) => Promise<HartWriter>,
  context: ConversionContext,
): Promise<void> {
  const threads = new Map<number | null, HartWriter>();
  const join = AddressJoin.of(trace, core);
  const { report } = context;
  const squashed = report.dropped('squashed instructions', 'STF holds what took effect');
  const unfinished = report.dropped('instructions in flight at the end, or lost', 'they did not retire');
  const unknown = report.dropped('instructions without address or code', 'STF needs both');
  const details = tallyDetails(context);
  const end = trace.totalTimePs;
  const { signal } = context;
  let taken = 0;
  try {
    for await (const instruction of instructions(trace, core, {}, { numbering: 'never', signal })) {
      details(instruction);
      const { id, birthPs, endPs, thread, trap } = instruction;
      if (++taken % INSTRUCTIONS_PER_LOOK === 0) {
        signal?.throwIfAborted();
        if (end > 0n) context.onProgress?.(Number(((birthPs ?? 0n) * 1000n) / end) / 1000);
      }
      const access = join && (await join.take(id, birthPs ?? 0n, endPs ?? instruction.flush?.timePs ?? end));
      const isRetired = instruction.end === InstructionEnd.RETIRED;
      if (!isRetired && !trap) {
        if (instruction.end === InstructionEnd.SQUASHED) squashed.count++;
        else unfinished.count++;
        continue;
      }
      if (instruction.pc === null || instruction.bits === null) {
        unknown.count++;
        continue;
      }
      let hart = threads.get(thread);
      if (!hart) {
        // A trap before anything retired has no file to be in.
        hart = await open(thread);
        threads.set(thread, hart);
      }
      hart.take(instruction, access);
      if (hart.isFull) await hart.flush();
    }
  } finally {
    await join?.close();
  }
  for (const hart of threads.values()) await hart.close(join !== null);
  context.onProgress?.(1);
}

/** Counts what an instruction's life holds besides what STF takes. */
function tallyDetails({ report }: ConversionContext): (instruction: Instruction) => void {
  const why = 'STF has no time and no pipeline';
  const stages = report.dropped('stage transitions', why);
  const stalls = report.dropped('stalls of instructions', why);
  const dependencies = report.dropped('dependencies', why);
  const annotations = report.dropped('annotations', 'STF has comments, which belong to no instruction');
  return (instruction) => {
    stages.count += instruction.stages.length;
    stalls.count += instruction.stalls.length;
    dependencies.count += instruction.dependencies.length;
    annotations.count += instruction.annotations.length;
  };
}

function reportRest(trace: Trace, core: CpuCore, { report }: ConversionContext): void {
  const others = trace.schema.storages.filter(
    (def) => def.scopeId === core.scopeId && def.storageId !== core.entities?.def.storageId,
  );
  report.dropped('storages (counters, buffers, registers)', 'STF holds instructions alone').count +=
    others.length;
}
