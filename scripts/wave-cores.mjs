// @ts-check
/**
 * `node scripts/wave-cores.mjs`: waveforms of cores that others wrote. Takes PicoRV32, SERV and Ibex from PyPI into a temporary directory, builds
 * them with Icarus Verilog and Verilator, and checks
 *
 *   1. what `uscope convert --guess` finds: clock, reset, RVFI, and the FIFOs listed here by hand; no RVFI where there is none;
 *   2. that PicoRV32's waveform gives the instructions and registers of a trace over DPI of the same run.
 *
 * It needs the network, pip, iverilog, verilator, riscv64-unknown-elf-gcc, and what `npm run setup` builds. `--keep` leaves the directory there.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HERE = join(ROOT, 'scripts/wave-cores');
const SV = join(ROOT, 'sv');
const BIN = join(ROOT, 'sdk/bin/uscope.js');
const PACKAGES = [
  'pythondata-cpu-picorv32==1.0.post218',
  'pythondata-cpu-serv==1.2.0.post146',
  'pythondata-cpu-ibex==0.0.post2937',
];
/** What a reader of the sources finds. */
const EXPECTED = {
  picorv32: { clock: 'tb.clk', reset: '"!tb.resetn"', rvfi: ['tb.uut'], fifos: [] },
  serv: { clock: 'tb.wb_clk', reset: '"tb.wb_rst"', rvfi: [], fifos: [] },
  ibex: {
    clock: 'TOP.tb.clk',
    reset: '"!TOP.tb.rst_n"',
    rvfi: ['TOP.tb.u_top'],
    fifos: [
      'TOP.tb.u_write_log.gen_normal_fifo',
      'TOP.tb.u_slow_log.gen_normal_fifo',
      'TOP.tb.u_top.u_ibex_core.if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i',
    ],
  },
};
const ENOUGH_FIFOS = 0.8;
const DUMP = 'module dump; initial begin $dumpfile("wave.vcd"); $dumpvars(0, tb); end endmodule\n';

const directory = mkdtempSync(join(tmpdir(), 'uscope-wave-cores-'));
try {
  main();
} finally {
  if (process.argv.includes('--keep')) console.log(`kept: ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
}

function main() {
  run('pip', ['download', '--quiet', '--no-deps', '-d', 'pip', ...PACKAGES], directory);
  for (const file of readdirSync(join(directory, 'pip')))
    run('python3', ['-m', 'zipfile', '-e', join('pip', file), 'cores'], directory);
  const core = (/** @type {string} */ name) => join(directory, 'cores', `pythondata_cpu_${name}`);
  const problems = [
    ...check('picorv32', picorv32(join(core('picorv32'), 'verilog/picorv32.v'))),
    ...check('serv', serv(join(core('serv'), 'verilog'))),
    ...check('ibex', ibex(join(core('ibex'), 'system_verilog'))),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

/**
 * The folder with its waveform; the same run over DPI has to retire the same.
 * @param {string} source
 */
function picorv32(source) {
  const at = folder('picorv32');
  program(at, 0);
  const bench = join(HERE, 'picorv32-tb.v');
  writeFileSync(join(at, 'dump.v'), DUMP);
  run(
    'iverilog',
    ['-g2012', '-DRISCV_FORMAL', '-o', 'sim', '-s', 'tb', '-s', 'dump', source, bench, 'dump.v'],
    at,
  );
  run('vvp', ['sim'], at);
  writeFileSync(join(at, 'bind.sv'), 'bind picorv32 uscope_rvfi u_uscope_rvfi (.rst(!resetn), .*);\n');
  const packages = ['uscope_pkg', 'uscope_cpu_pkg', 'uscope_rvfi_pkg', 'uscope_rvfi'].map((name) =>
    join(SV, `${name}.sv`),
  );
  const library = `${join(ROOT, 'dpi/build/libuscope_dpi.a')} -lzmq -lpthread`;
  verilate(at, [
    '-DRISCV_FORMAL',
    '--timescale',
    '1ns/1ps',
    `-I${SV}`,
    '-LDFLAGS',
    library,
    ...packages,
    source,
    bench,
    'bind.sv',
  ]);
  uscope(at, 'run', '--schema', join(SV, 'uscope_rvfi.yaml'), '--out', 'traces', '--', 'obj_dir/Vtb');
  const map = 'waves: 1\nclock: tb.clk\nreset: "!tb.resetn"\nscopes: {core0: {rvfi: tb.uut.rvfi_}}\n';
  writeFileSync(join(at, 'rvfi.yaml'), map);
  uscope(at, 'convert', 'wave.vcd', '--map', 'rvfi.yaml', '-o', 'wave.uscope');
  process.stdout.write(uscope(at, 'diff', '--by', 'retired', 'traces/core0.uscope', 'wave.uscope'));
  return at;
}

/** @param {string} sources */
function serv(sources) {
  const at = folder('serv');
  writeFileSync(join(at, 'blinky.hex'), readFileSync(join(sources, 'sw/blinky.hex')));
  const system = [
    'servant',
    'servant_mux',
    'servant_gpio',
    'servant_timer',
    'servant_ram',
    'servant_arbiter',
  ];
  const files = [
    join(HERE, 'serv-tb.v'),
    join(sources, 'bench/servant_sim.v'),
    ...system.map((name) => join(sources, 'servant', `${name}.v`)),
    ...readdirSync(join(sources, 'rtl'))
      .filter((name) => name.endsWith('.v'))
      .map((name) => join(sources, 'rtl', name)),
  ];
  run('iverilog', ['-g2012', '-o', 'sim', '-s', 'tb', ...files], at);
  run('vvp', ['sim'], at);
  return at;
}

/** @param {string} sources */
function ibex(sources) {
  const at = folder('ibex');
  program(at, 0x80);
  const prim = join(sources, 'vendor/lowrisc_ip/ip/prim/rtl');
  const prims = [
    ...[
      'util_pkg',
      'ram_1p_pkg',
      'mubi_pkg',
      'secded_pkg',
      'count_pkg',
      'cipher_pkg',
      'count',
      'fifo_sync',
      'fifo_sync_cnt',
    ],
    ...['secded_inv_39_32_dec', 'secded_inv_39_32_enc', 'secded_inv_28_22_dec', 'secded_inv_28_22_enc'],
    ...['onehot_check', 'lfsr', 'ram_1p_scr', 'prince', 'ram_1p_adv'],
  ].map((name) => join(prim, `prim_${name}.sv`));
  const left = /tracer|tracing|ibex_pkg|latch|fpga|lockstep|icache/;
  const rtl = readdirSync(join(sources, 'rtl')).filter((name) => name.endsWith('.sv') && !left.test(name));
  verilate(at, [
    ...['--trace', '-DRVFI', '-DSYNTHESIS', `+incdir+${prim}`],
    `+incdir+${join(sources, 'vendor/lowrisc_ip/dv/sv/dv_utils')}`,
    ...prims,
    join(sources, 'rtl/ibex_pkg.sv'),
    ...rtl.sort().map((name) => join(sources, 'rtl', name)),
    ...[join(HERE, 'ibex-stubs.sv'), join(HERE, 'ibex-tb.sv')],
  ]);
  run('obj_dir/Vtb', [], at);
  return at;
}

/**
 * What `--guess` does not find, or finds wrongly; that its map converts is part of it.
 * @param {keyof typeof EXPECTED} name
 * @param {string} at
 */
function check(name, at) {
  const { clock, reset, rvfi, fifos } = EXPECTED[name];
  const map = uscope(at, 'convert', 'wave.vcd', '--guess');
  writeFileSync(join(at, 'guess.yaml'), map);
  uscope(at, 'convert', 'wave.vcd', '--map', 'guess.yaml', '-o', 'guess.uscope');
  uscope(at, 'verify', 'guess.uscope');
  const scopes = map.split(/\n(?= {2}\S)/).slice(1);
  const within = (/** @type {string} */ key) =>
    scopes
      .filter((scope) => scope.includes(`\n    ${key}:`))
      .map((scope) => /\n {4}in: (.*)/.exec(scope)?.[1] ?? '');
  const foundFifos = fifos.filter((fifo) => within('fifos').includes(fifo)).length;
  console.log(
    `${name}: ${foundFifos} of ${fifos.length} FIFOs, RVFI in ${within('rvfi').join(', ') || 'no scope'}`,
  );
  const problems = [];
  if (!map.includes(`\nclock: ${clock}\n`)) problems.push(`${name}: the clock ${clock} was not found`);
  if (!map.includes(`\nreset: ${reset}\n`)) problems.push(`${name}: the reset ${reset} was not found`);
  if (within('rvfi').join() !== rvfi.join())
    problems.push(`${name}: RVFI was found in ${within('rvfi').join() || 'no scope'}`);
  if (foundFifos < ENOUGH_FIFOS * fifos.length)
    problems.push(`${name}: only ${foundFifos} FIFOs of ${fifos.length} were found`);
  return problems;
}

/**
 * @param {string} at
 * @param {number} origin bytes in front of the program
 */
function program(at, origin) {
  const flags = [
    '-march=rv32i',
    '-mabi=ilp32',
    '-nostdlib',
    '-static',
    '-Wl,-Ttext=0',
    '-Wl,--no-relax',
    `-DORIGIN=${origin}`,
  ];
  run('riscv64-unknown-elf-gcc', [...flags, join(HERE, 'program.S'), '-o', 'prog.elf'], at);
  run('riscv64-unknown-elf-objcopy', ['-O', 'binary', 'prog.elf', 'prog.bin'], at);
  const bytes = readFileSync(join(at, 'prog.bin'));
  const words = Array.from({ length: bytes.length >> 2 }, (_, n) =>
    bytes
      .readUInt32LE(4 * n)
      .toString(16)
      .padStart(8, '0'),
  );
  writeFileSync(join(at, 'prog.hex'), `${words.join('\n')}\n`);
}

/**
 * @param {string} at
 * @param {readonly string[]} args
 */
function verilate(at, args) {
  const quick = ['-j', '1', '-MAKEFLAGS', 'OPT_FAST=-O0 OPT_GLOBAL=-O0 OPT_SLOW=-O0'];
  run(
    'verilator',
    ['--binary', ...quick, '-Wno-fatal', '-Wno-lint', '-Wno-style', '--top-module', 'tb', ...args],
    at,
  );
}

/** @param {string} name */
function folder(name) {
  const at = join(directory, name);
  mkdirSync(at);
  return at;
}

/**
 * @param {string} at
 * @param {readonly string[]} args
 */
function uscope(at, ...args) {
  return run(process.execPath, [BIN, ...args], at);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status === 0) return stdout;
  const tail = (stderr || stdout || String(error)).split('\n').slice(-20).join('\n');
  throw new Error(`${command} ${args.slice(0, 3).join(' ')} … failed:\n${tail}`);
}
