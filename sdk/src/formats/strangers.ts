/** Files that are not read here and are known: what they are, and what converts them. */
import { UscopeError } from '../base/errors.js';

interface Stranger {
  readonly what: string;
  /** What to do. */
  readonly advice: string;
  readonly magic?: readonly number[];
  /** For a text, whose first lines decide. */
  readonly pattern?: RegExp;
}

const STRANGERS: readonly Stranger[] = [
  {
    what: 'FST, a packed waveform',
    // The header block: its kind, its length of 329 bytes.
    magic: [0, 0, 0, 0, 0, 0, 0, 1, 0x49],
    advice: '`fst2vcd FILE | uscope convert - --map MAP -o OUT.uscope`, with fst2vcd of GTKWave, converts it',
  },
  {
    what: 'GHW, a waveform of GHDL',
    magic: [...'GHDLwave'].map((letter) => letter.charCodeAt(0)),
    advice:
      'run `ghdl -r TOP --vcd=FILE.vcd` instead of --wave, then `uscope convert FILE.vcd --map MAP -o OUT.uscope`; `ghwdump FILE` lists what it holds',
  },
  {
    what: 'a file packed with xz',
    magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0],
    advice: 'unpack it with `xz -d`, or pack it with gzip or zstd',
  },
  {
    what: 'a file packed with bzip2',
    magic: [0x42, 0x5a, 0x68],
    advice: 'unpack it with `bunzip2`, or pack it with gzip or zstd',
  },
  {
    what: "a log of QEMU's plug-in execlog",
    pattern: /^\d+, 0x[0-9a-f]+, 0x[0-9a-f]+, "/,
    advice:
      'it has no registers; log with `-d in_asm,exec,cpu,nochain -D FILE`, which `uscope convert` reads',
  },
  {
    what: "a text log of NEORV32's tracer",
    pattern: /^\d+ \d+ 0x[0-9a-f]{8} 0x[0-9a-f]{4,8} +[MU] /,
    advice:
      'write the waveform as VCD: `uscope convert` reads it with a map of the RVFI pins (docs/tutorials/trace-a-core-you-did-not-write.md)',
  },
  {
    what: 'a text log of SCV transactions',
    pattern: /^scv_tr_stream \(ID \d+, name "/,
    advice:
      'record as FTR (LWTR4SC) or with the C++ client, which `uscope convert` reads (docs/how-to/systemc.md)',
  },
];

const FIRST_BYTES = 4096;
const decoder = new TextDecoder('latin1');

/** Null: the file is of no such kind. */
export function strangerIn(head: Uint8Array): UscopeError | null {
  const text = decoder.decode(head.subarray(0, FIRST_BYTES));
  const found = STRANGERS.find(
    ({ magic, pattern }) => magic?.every((byte, index) => head[index] === byte) ?? pattern?.test(text),
  );
  if (!found) return null;
  return new UscopeError('CONVERT_UNSUPPORTED', `this is ${found.what}, which is not read: ${found.advice}`);
}
