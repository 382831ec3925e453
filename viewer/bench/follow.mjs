// @ts-check
/** Followers of a live trace as pages are, without their pictures: node follow.mjs URL COUNT. Ends with a signal. */
import { httpSource, openTrace } from 'uscope/reader';

const [url = '', count = '1'] = process.argv.slice(2);
const POLL_MS = 100;
/** As viewer/src/data/news.ts. */
const TRUSTED_MS = 1000;
const RECORDING_MS = 500;

/** The page's reader looks for growth, and takes what is new. */
async function follow() {
  const source = httpSource(new URL('trace.uscope', url).href);
  const trace = await openTrace(source, { cacheBytes: 1024 * 1024 });
  let end = 0;
  let [known, looked] = ['', 0];
  while (!trace.isComplete) {
    const { headers } = await fetch(new URL('trace.uscope', url), { method: 'HEAD' });
    const mark = String(headers.get('uscope-mark'));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (mark === known && performance.now() - looked < TRUSTED_MS) continue;
    [known, looked] = [mark, performance.now()];
    const { newSegments } = await trace.poll();
    if (newSegments > 0) {
      const size = await source.size();
      if (end > 0 && size > end) await source.read(end, Math.min(size - end, 4 * 1024 * 1024));
      end = size;
    }
  }
}

async function ask() {
  for (;;) {
    await (await fetch(new URL('recording.json', url))).text();
    await new Promise((resolve) => setTimeout(resolve, RECORDING_MS));
  }
}

await Promise.all(Array.from({ length: Number(count) }, () => Promise.all([follow(), ask()])));
