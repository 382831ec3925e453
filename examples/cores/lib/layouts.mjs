/**
 * The same simulator linked in other orders of its objects. A large model is longer than the processor's instruction cache: where its functions are
 * decides how often they push each other out, which is worth as much time as a trace. A comparison of two models is one of several layouts of each.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './commands.mjs';

/** @param libraries what the simulator is linked with besides its objects @returns paths of `count` programs */
export function layoutsOf(program, count, libraries = []) {
  const folder = dirname(program);
  const objects = objectsOf(folder);
  return Array.from({ length: count }, (_, index) => {
    const file = join(folder, `layout-${index}`);
    if (existsSync(file) && statSync(file).mtimeMs >= statSync(program).mtimeMs) return file;
    const order = shuffled(objects, index).map((name) => join(folder, name));
    run('g++', ['-o', file, ...order, ...libraries, '-pthread', '-latomic']);
    return file;
  });
}

/** Those of the model are in its archive; the folder may have some of an earlier build. */
function objectsOf(folder) {
  const model = run('ar', ['t', join(folder, 'Vtop__ALL.a')])
    .trim()
    .split('\n');
  const others = readdirSync(folder).filter((name) => /^(main|verilated\w*)\.o$/.test(name));
  return [...new Set([...model, ...others])].sort();
}

/** The same order for the same seed: a multiplicative generator modulo 2^31 - 1. */
function shuffled(names, seed) {
  const left = [...names];
  let state = 1 + seed;
  return names.map(() => {
    for (let i = 0; i < 3; i++) state = (state * 48271) % 2147483647;
    return left.splice(state % left.length, 1)[0];
  });
}
