/** The instructions of a program as the tracer of CV32E40X reads them: address, function, file, line, code, number of words, words. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';

export function writeListing(core, work) {
  const prefix = core.compiler ?? 'riscv64-unknown-elf-';
  const text = run(`${prefix}objdump`, ['-d', join(work, 'program.elf')]);
  const lines = [];
  for (const [, address, code, assembly] of text.matchAll(/^ *([0-9a-f]+):\t([0-9a-f]+) +\t(.*)$/gm)) {
    const words = assembly.trim().split(/\s+/).slice(0, 5);
    lines.push(`${Number.parseInt(address, 16)} - - 0 ${code} ${words.length} ${words.join(' ')}\n`);
  }
  const file = join(work, 'program.itb');
  writeFileSync(file, lines.join(''));
  return file;
}
