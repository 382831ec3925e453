// @ts-check
/**
 * What an older build does with a file: `node older-build.mjs SDK list|verify|recover|resume FILE [OUTPUT]` prints JSON. SDK is the folder of the
 * build (`older-build.ts`).
 */
import { listTrace } from './listing.mjs';

const [sdk, what, file, output] = process.argv.slice(2);
const { openTraceFile, recoverTrace, resumeTrace, verifyTrace } = await import(`${sdk}/dist/index.js`);
const { fileSource, nodeCodec } = await import(`${sdk}/dist/reader/node.js`);

/** @param {string} path */
async function list(path) {
  const trace = await openTraceFile(path);
  const { warnings = [] } = trace;
  const listing = await listTrace(trace);
  await trace.close();
  return { listing, warnings };
}

async function verify() {
  const source = await fileSource(file);
  const { findings } = await verifyTrace(source, { codec: nodeCodec });
  await source.close?.();
  return findings;
}

/** Adds one frame, and closes the trace. */
async function resume() {
  const { RecordBatch } = await import(`${sdk}/dist/writer/records/record-batch.js`);
  const trace = await openTraceFile(file);
  const { schema, totalTimePs, session } = trace;
  await trace.close();
  const writer = await resumeTrace({ path: file, schema, sessionId: session.sessionId, maxDelayMs: 0 });
  const batch = new RecordBatch();
  batch.begin(totalTimePs + 1000n);
  batch.op(3, 3, 0, 0, 1, 0);
  batch.end(1, Number(writer.nextFrame));
  writer.push(batch.words, 0, batch.length);
  await writer.close({ status: 1 });
  return list(file);
}

const answers = {
  list: () => list(file),
  verify,
  resume,
  recover: async () => {
    await recoverTrace({ input: file, output });
    return list(output);
  },
};
const answer = await answers[/** @type {keyof typeof answers} */ (what)]();
process.stdout.write(
  JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
);
