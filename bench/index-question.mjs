// @ts-check
/** One question in a separate process: `index-questions.mjs` starts it. Arguments: trace, name of the question, share. */
const [path, name, share] = process.argv.slice(2);
const start = performance.now();
const { openTraceFile } = await import('uscope/reader/node');
const { openIndex } = await import('uscope/trace-index');
const { QUESTIONS } = await import('./index-question-list.mjs');
const loaded = performance.now();
const trace = await openTraceFile(path);
const index = await openIndex(trace);
if (!index) throw new Error(`${path} has no index`);
const ask = await QUESTIONS[name](index);
if (!ask) throw new Error(`${path} cannot be asked for: ${name}`);
await ask(Number(share));
// Loading the modules is the process's affair.
process.send?.({ ns: (performance.now() - loaded) * 1e6, loading: (loaded - start) * 1e6 });
await trace.close();
