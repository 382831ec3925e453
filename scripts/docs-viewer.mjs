// @ts-check
/**
 * Writes the table of keys into docs/how-to/viewer.md, between its two marks, and takes the pictures of the guide where there is a run of the demo
 * (`npm run demo`) and a Chromium. A test (viewer/src/input/keys.test.ts) says when the table is not current.
 *
 *     npm run docs:viewer
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './step.mjs';

const GUIDE = join(ROOT, 'docs/how-to/viewer.md');
const BEGIN = '<!-- keys: npm run docs:viewer -->\n\n';
const END = '\n\n<!-- end of keys -->';

const { outputFiles } = await build({
  entryPoints: [join(ROOT, 'viewer/src/input/document.ts')],
  bundle: true,
  format: 'esm',
  write: false,
});
const code = Buffer.from(outputFiles[0]?.text ?? '').toString('base64');
const { keysTable } = await import(`data:text/javascript;base64,${code}`);
const guide = readFileSync(GUIDE, 'utf8');
const [before = '', rest = ''] = guide.split(BEGIN);
const after = rest.slice(rest.indexOf(END));
writeFileSync(GUIDE, `${before}${BEGIN}${keysTable()}${after}`);

// Its code runs in the page, whose types this folder does not have.
const pictures = new URL('../viewer/guide/pictures.mjs', import.meta.url).href;
const guided = await import(pictures);
const { demoTrace, hasDemo, hasSlower, slowerTrace, takeComparison, takePictures } = guided;
if (hasDemo()) await takePictures(demoTrace());
else console.log(`no pictures: ${demoTrace()} is missing; npm run demo makes it`);
if (hasDemo() && hasSlower()) await takeComparison(demoTrace(), slowerTrace());
else
  console.log(
    `no picture of two runs: ${slowerTrace()} is missing; in verilator-demo: make CONFIG=smallcache PARAMS=-GDCacheSets=4, then demo.mjs --build smallcache --out out/smallcache`,
  );
if (guided.hasFourCores()) await guided.takeTogether(guided.fourCores());
else
  console.log(
    `no picture of several traces: ${guided.fourCores()} is missing; in verilator-demo: demo.mjs --cores 4 --out out/four`,
  );
if (guided.hasO3()) await guided.takeBottleneck(guided.o3Trace());
else
  console.log(
    `no picture of the out-of-order core: ${guided.o3Trace()} is missing; npm run demo -- --core o3 --out verilator-demo/out/o3 makes it`,
  );
