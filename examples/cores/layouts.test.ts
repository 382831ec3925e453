/** What the cost of a trace on a core is measured on: one program in several layouts, of which the middle one counts. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../../test/support/limits.js';
import { middle } from './lib/cost.mjs';
import { layoutsOf } from './lib/layouts.mjs';
import { pinsModule } from './lib/simulator.mjs';

limitOfFile(BUILDS_MS);

const folder = mkdtempSync(join(tmpdir(), 'uscope-layouts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: folder, encoding: 'utf8' });

it('a program in other layouts does the same, from other addresses; objects of an earlier build are left out', () => {
  const functions = Array.from({ length: 6 }, (_, i) => `f${i}`);
  for (const name of functions)
    writeFileSync(join(folder, `${name}.cpp`), `int ${name}(int x) { return 7 * x + ${name.slice(1)}; }\n`);
  const declared = functions.map((name) => `int ${name}(int);`).join(' ');
  const sum = functions.map((name) => `${name}(argc)`).join(' + ');
  writeFileSync(
    join(folder, 'main.cpp'),
    `#include <cstdio>\n${declared}\nint main(int argc, char **) { std::printf("%d\\n", ${sum}); }\n`,
  );
  run('g++', '-c', 'main.cpp', ...functions.map((name) => `${name}.cpp`));
  run('ar', 'rcs', 'Vtop__ALL.a', ...functions.map((name) => `${name}.o`));
  run('g++', '-o', 'Vtop', 'main.o', 'Vtop__ALL.a');
  // It has a function of the model once more.
  writeFileSync(join(folder, 'Vtop_earlier.o'), readFileSync(join(folder, 'f0.o')));
  const layouts = layoutsOf(join(folder, 'Vtop'), 4);
  expect(new Set(layouts.map((layout) => run(layout)))).toEqual(new Set([run('./Vtop')]));
  const orders = layouts.map((layout) => {
    const symbols = run('nm', '-n', layout).split('\n');
    return symbols.flatMap((line) => line.match(/_Z2(f\d)i$/)?.[1] ?? []).join(' ');
  });
  expect(orders.map((order) => order.split(' ').sort())).toEqual(orders.map(() => functions));
  expect(new Set(orders).size).toBe(4);
});

it('the middle one of several times counts, with the distance of the ends', () => {
  expect(middle([9, 1, 5])).toEqual({ seconds: 5, spread: 0.8 });
  expect(middle([3])).toEqual({ seconds: 3, spread: null });
});

it('what measures the formal interface alone has the ports of the tracer, and reads all but clock and reset in a record', () => {
  const text = readFileSync(pinsModule(folder), 'utf8');
  const ports = [...text.matchAll(/input logic .*?(rvfi_\w+)/g)].map(([, name]) => name);
  expect(ports).toHaveLength(21);
  const body = text.slice(text.indexOf('$fwrite'));
  expect(ports.filter((name) => !new RegExp(`\\b${name}\\b`).test(body))).toEqual([]);
});
