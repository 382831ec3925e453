// @ts-check
/** Followers of the live trace core0 as pages are, without their pictures: node follow.mjs ADDRESS COUNT, with the address that `uscope view DIR` prints. Ends with a signal. */
import { followedSource, openTrace } from 'uscope/reader';
import { enter } from '../../test/support/enter-view.mjs';

const [address = '', count = '1'] = process.argv.slice(2);
const { url: list, headers } = await enter(address);
const url = new URL('traces/core0/', list);
const POLL_MS = 100;
const RECORDING_MS = 500;

/** The page's reader looks for growth, and takes all that is new: a page takes less where the trace grows fast. */
async function follow() {
  const source = followedSource(new URL('trace.uscope', url), { headers });
  const trace = await openTrace(source, { cacheBytes: 1024 * 1024 });
  let end = 0;
  while (!trace.isComplete) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!(await source.hasNews())) continue;
    const { newSegments } = await trace.poll();
    if (newSegments === 0) continue;
    const { offset } = await trace.segment(trace.segmentCount - 1);
    // From the segment that was the last one to the one that is now.
    if (end > 0 && offset > end) await source.read(end, offset - end);
    end = offset;
  }
}

/** The list of the server has a trace a moment after its file is there. */
async function listed() {
  while ((await fetch(new URL('trace.uscope', url), { method: 'HEAD', headers })).status === 404)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

async function ask() {
  for (;;) {
    await (await fetch(new URL('recording.json', url), { headers })).text();
    await new Promise((resolve) => setTimeout(resolve, RECORDING_MS));
  }
}

await listed();
await Promise.all(Array.from({ length: Number(count) }, () => Promise.all([follow(), ask()])));
