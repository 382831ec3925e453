// @ts-check
/** One process that exports a trace, with all tables: `node dataset-export.mjs TRACE DATASET` prints its instructions and its peak memory. */
/** @type {typeof import('../sdk/src/dataset/index.js')} */
const { exportOneRun, TABLES } = await import(new URL('../sdk/dist/dataset/index.js', import.meta.url).href);
const [trace, dataset] = process.argv.slice(2);
const { instructions } = await exportOneRun(dataset, {
  run: 'r',
  files: [trace],
  tables: TABLES,
  window: 10_000,
  tags: {},
  replace: true,
});
console.log(JSON.stringify({ instructions, peakKb: process.resourceUsage().maxRSS }));
