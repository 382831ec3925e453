/** Compiles the program for a core and writes its image: words in hex. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { here, run } from './commands.mjs';

export function buildProgram(core, work, rounds) {
  const prefix = core.compiler ?? 'riscv64-unknown-elf-';
  const common = join(here, 'common');
  const elf = join(work, 'program.elf');
  const binary = join(work, 'program.bin');
  const machine = core.march ? [`-march=${core.march}`, '-mabi=ilp32'] : [];
  const start = core.start ? join(here, core.id, core.start) : join(common, 'riscv.S');
  const sources = [start, join(common, 'program.c')];
  const options = [
    '-O2',
    '-ffreestanding',
    '-fno-builtin',
    '-nostartfiles',
    '-nodefaultlibs',
    `-DROUNDS=${rounds}`,
    ...core.flags,
  ];
  run(`${prefix}gcc`, [
    ...machine,
    ...options,
    '-T',
    join(common, 'link.ld'),
    '-o',
    elf,
    ...sources,
    '-lgcc',
  ]);
  run(`${prefix}objcopy`, ['-O', 'binary', elf, binary]);
  const bytes = readFileSync(binary);
  const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  const words = Array.from({ length: padded.length / 4 }, (_, i) =>
    core.bigEndian ? padded.readUInt32BE(4 * i) : padded.readUInt32LE(4 * i),
  );
  const image = join(work, 'program.hex');
  writeFileSync(image, words.map((word) => `${word.toString(16).padStart(8, '0')}\n`).join(''));
  return image;
}
