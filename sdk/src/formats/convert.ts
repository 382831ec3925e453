/** From any format to any: directly from or to µScope, by way of a temporary µScope file between two others. */
import { UscopeError } from '../base/errors.js';
import type { Source, Trace } from '../reader/index.js';
import { openSource, openTraceFile } from '../reader/node.js';
import { interruptible } from '../stream/interruptible-source.js';
import type { TraceStats } from '../writer/index.js';
import { Draft, writeAtomically } from '../writer/output/atomic-file.js';
import type { ConversionContext, ForeignFormat, TraceTarget } from './common/foreign-format.js';
import { ExportFiles } from './common/output-files.js';
import { ConversionReport } from './common/report.js';
import { USCOPE } from './sniff.js';

export type AnyFormat = typeof USCOPE | ForeignFormat;

export interface ConvertRequest {
  /** Its path, which is never replaced. */
  readonly input: string;
  readonly source: Source;
  readonly from: AnyFormat;
  readonly to: AnyFormat;
  readonly output: string;
  /** What `output` ends with and parts are put before. */
  readonly extension: string;
  readonly options: ReadonlyMap<string, string>;
  readonly force?: boolean | undefined;
  readonly target?: Omit<TraceTarget, 'path'> | undefined;
  readonly onProgress?: ((part: number) => void) | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One leg of a conversion. */
export interface ConversionStep {
  readonly from: string;
  readonly to: string;
  readonly report: ConversionReport;
}

export interface ConversionResult {
  readonly steps: readonly ConversionStep[];
  readonly outputs: readonly { readonly path: string; readonly bytes: number }[];
  /** The input ended early; what was before is in the output. */
  readonly isPartial: boolean;
}

export const nameOf = (format: AnyFormat): string => (format === USCOPE ? USCOPE : format.name);

/** @throws UscopeError CONVERT_*, FORMAT_* for a damaged trace, WRITER_*; the reason of the signal when it was raised */
export async function convert(request: ConvertRequest): Promise<ConversionResult> {
  const { from, to } = request;
  checkOptions(request);
  if (from === USCOPE && to === USCOPE) {
    throw new UscopeError(
      'CONVERT_OPTION',
      'input and output are both µScope; `uscope slice` copies a trace',
    );
  }
  try {
    if (to === USCOPE) return await importTrace(request, from as ForeignFormat);
    if (from === USCOPE) return await exportTrace(request, to);
    return await byWayOfUscope(request, from, to);
  } catch (error) {
    // Readers report what ends their input as their own errors.
    request.signal?.throwIfAborted();
    throw error;
  }
}

async function importTrace(request: ConvertRequest, format: ForeignFormat): Promise<ConversionResult> {
  const report = new ConversionReport();
  const { output, input, force, signal } = request;
  const { stats, isPartial } = await writeAtomically(output, { inputs: [input], force, signal }, (path) =>
    readInto(request, format, path, contextOf(request, report, request.onProgress)),
  );
  return {
    steps: [{ from: format.name, to: USCOPE, report }],
    outputs: [{ path: output, bytes: Number(stats.bytes) }],
    isPartial,
  };
}

/** Reads a foreign file into a trace at `path`. */
async function readInto(
  { source, options, target, signal }: ConvertRequest,
  format: ForeignFormat,
  path: string,
  context: ConversionContext,
): Promise<{ stats: TraceStats; isPartial: boolean }> {
  if (!format.open) throw new UscopeError('CONVERT_UNKNOWN', `${format.title} can be written, not read`);
  const foreign = await format.open(interruptible(source, signal), options);
  const stats = await foreign.toUscope({ ...target, path }, context);
  return { stats, isPartial: foreign.isPartial };
}

async function exportTrace(request: ConvertRequest, format: ForeignFormat): Promise<ConversionResult> {
  const report = new ConversionReport();
  const trace = await openTraceFile(interruptible(await openSource(request.input), request.signal), {
    onWarning: ({ message }) => request.onWarning?.(message),
  });
  const outputs = await writeFrom(request, trace, format, contextOf(request, report, request.onProgress));
  return { steps: [{ from: USCOPE, to: format.name, report }], outputs, isPartial: false };
}

/** Writes the files of `format` from a trace, and closes the trace. */
async function writeFrom(
  { input, output, extension, force, signal }: ConvertRequest,
  trace: Trace,
  format: ForeignFormat,
  context: ConversionContext,
): Promise<{ path: string; bytes: number }[]> {
  const files = new ExportFiles(output, extension, { inputs: [input], force, signal });
  try {
    if (!format.write) throw new UscopeError('CONVERT_UNKNOWN', `${format.title} can be read, not written`);
    await format.write(trace, files, extension, context);
    return await files.finish();
  } catch (error) {
    await files.abandon();
    throw error;
  } finally {
    await trace.close();
  }
}

async function byWayOfUscope(
  request: ConvertRequest,
  from: ForeignFormat,
  to: ForeignFormat,
): Promise<ConversionResult> {
  const [first, second] = [new ConversionReport(), new ConversionReport()];
  // Never published: the file between the two, where nobody else reads it.
  const draft = await Draft.begin(`${request.output}.uscope`, { inputs: [], force: true });
  const between = draft.temporary;
  const halves = (begin: number) => (part: number) => request.onProgress?.(begin + part / 2);
  try {
    const { isPartial } = await readInto(request, from, between, contextOf(request, first, halves(0)));
    const trace = await openTraceFile(interruptible(await openSource(between), request.signal));
    const outputs = await writeFrom(request, trace, to, contextOf(request, second, halves(0.5)));
    const steps = [
      { from: from.name, to: USCOPE, report: first },
      { from: USCOPE, to: to.name, report: second },
    ];
    return { steps, outputs, isPartial };
  } finally {
    await draft.discard();
  }
}

function contextOf(
  { options, onWarning, signal }: ConvertRequest,
  report: ConversionReport,
  onProgress: ((part: number) => void) | undefined,
): ConversionContext {
  return { options, report, onProgress, onWarning, signal };
}

/** @throws UscopeError CONVERT_OPTION for an option that neither side has */
function checkOptions({ options, from, to }: ConvertRequest): void {
  const known = [
    ...optionsOf(from).filter(({ direction }) => direction !== 'export'),
    ...optionsOf(to).filter(({ direction }) => direction !== 'import'),
  ].map(({ name }) => name);
  for (const name of options.keys()) {
    if (known.includes(name)) continue;
    const there = known.length > 0 ? `there are ${known.join(', ')}` : 'there are none';
    throw new UscopeError(
      'CONVERT_OPTION',
      `"${name}" is not an option of a conversion from ${nameOf(from)} to ${nameOf(to)}; ${there}`,
    );
  }
}

const optionsOf = (format: AnyFormat) => (format === USCOPE ? [] : format.options);
