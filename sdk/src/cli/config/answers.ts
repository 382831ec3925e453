/** What `uscope config` answers: words for the command line of a compiler or a simulator. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { libDirectory, type Places } from './places.js';

export interface Asked {
  readonly places: Places;
  readonly libDir: string | undefined;
}

/** Packages before what imports them. */
const SV_FILES = ['uscope_pkg.sv', 'uscope_cpu_pkg.sv', 'uscope_noc_pkg.sv'];
const RVFI_FILES = ['uscope_pkg.sv', 'uscope_cpu_pkg.sv', 'uscope_rvfi_pkg.sv', 'uscope_rvfi.sv'];

const svFiles = (asked: Asked, names = SV_FILES): string[] =>
  names.map((name) => join(asked.places.sv, name));
const include = ({ places }: Asked): string => `-I${join(places.client, 'include')}`;
const libOf = (asked: Asked): string => libDirectory(asked.places, asked.libDir);

/** With the DPI functions. @throws UscopeError ENV_MISSING where the library was built without them */
function dpiLibrary(asked: Asked, extension: 'a' | 'so'): string {
  const file = join(libOf(asked), `libuscope_dpi.${extension}`);
  if (existsSync(file)) return file;
  throw new UscopeError(
    'ENV_MISSING',
    'the DPI library is not built, since no svdpi.h was found: build it with SVDPI_INC set to the directory of your simulator that has it',
    { file },
  );
}

/** A library that comes with the package has libzmq in it, and is a shared one: a static one would bring a second C++ runtime. */
const hasZmq = (directory: string): boolean => !existsSync(join(directory, 'libuscope.a'));

/** For a linker that finds the library at run time too. */
const linkShared = (directory: string, name: string): string[] => [
  `-L${directory}`,
  `-Wl,-rpath,${directory}`,
  `-l${name}`,
];

/** What Verilator links: the archive where there is one, which it calls more quickly. */
function verilatorLibrary(asked: Asked): string[] {
  const directory = libOf(asked);
  const words = hasZmq(directory)
    ? linkShared(dirname(dpiLibrary(asked, 'so')), 'uscope_dpi')
    : [dpiLibrary(asked, 'a'), '-lzmq', '-lpthread'];
  return words.flatMap((word) => (word.startsWith('-') ? ['-LDFLAGS', word] : [word]));
}

const withoutEnding = (file: string): string => file.replace(/\.[^.]+$/, '');

interface Answer {
  /** In `--help`. */
  readonly what: string;
  /** Words in order; those with a space stay one word. */
  words(asked: Asked): readonly string[];
}

/** By the name of the option. Those of simulators leave out what is the user's: their own files and the top module. */
export const ANSWERS: Readonly<Record<string, Answer>> = {
  'sv-dir': { what: 'directory of the SystemVerilog files', words: ({ places }) => [places.sv] },
  'sv-files': {
    what: 'the SystemVerilog packages, in the order of compilation',
    words: (asked) => svFiles(asked),
  },
  'rvfi-files': {
    what: 'the same with the monitor of the RISC-V Formal Interface',
    words: (asked) => svFiles(asked, RVFI_FILES),
  },
  schemas: {
    what: 'schema files that come with the package',
    words: ({ places }) =>
      readdirSync(places.sv)
        .filter((name) => name.endsWith('.yaml'))
        .sort()
        .map((name) => join(places.sv, name)),
  },
  mk: { what: 'directory of the fragments for makefiles', words: ({ places }) => [join(places.sv, 'mk')] },
  'include-dir': {
    what: 'directory of the C headers',
    words: ({ places }) => [join(places.client, 'include')],
  },
  'lib-path': { what: 'directory of the libraries', words: (asked) => [libOf(asked)] },
  cflags: { what: 'for the C compiler', words: (asked) => [include(asked)] },
  libs: {
    what: 'for the linker: the client library',
    words: (asked) => {
      const directory = libOf(asked);
      return [...linkShared(directory, 'uscope'), ...(hasZmq(directory) ? [] : ['-lzmq', '-lpthread'])];
    },
  },
  verilator: {
    what: 'for Verilator: include directory, library, packages',
    words: (asked) => [`-I${asked.places.sv}`, ...verilatorLibrary(asked), ...svFiles(asked)],
  },
  'verilator-rvfi': {
    what: 'the same with the monitor of the RISC-V Formal Interface',
    words: (asked) => [
      ...ANSWERS.verilator!.words(asked).filter((word) => !word.endsWith('.sv')),
      ...svFiles(asked, RVFI_FILES),
    ],
  },
  vcs: {
    what: 'for vcs; at run time: -sv_lib and --dpi without its ending',
    words: (asked) => [`+incdir+${asked.places.sv}`, ...svFiles(asked)],
  },
  questa: {
    what: 'for vlog; vsim: -sv_lib and --dpi without its ending',
    words: (asked) => [`+incdir+${asked.places.sv}`, ...svFiles(asked)],
  },
  xcelium: {
    what: 'for xrun',
    words: (asked) => ['-incdir', asked.places.sv, ...svFiles(asked), '-sv_lib', dpiLibrary(asked, 'so')],
  },
  dpi: {
    what: 'the DPI library without its ending, as -sv_lib of VCS and Questa takes it',
    words: (asked) => [withoutEnding(dpiLibrary(asked, 'so'))],
  },
};

/** One line for a shell. Only words with unusual characters are quoted, which needs `eval` or a makefile: `$(uscope config …)` alone takes none. */
export function shellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
