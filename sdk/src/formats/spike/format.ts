/** Logs of Spike, the reference simulator of RISC-V. They are read, not written. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { RETIRED_OPTIONS, RetiredLog } from '../retired/log.js';
import { sniffText } from '../text/unpack.js';
import { COUNTS_OPTION, countBase, SpikeParser } from './parse.js';

/** An instruction or a commit, with or without the hart. */
const BEGINNING =
  /^(?:(?:\(spike\) |: )?core +\d+: (?:[013] )?|[013] )0x[0-9a-f]{8,16} \(0x[0-9a-f]{1,16}\)/m;

export const FORMAT: ForeignFormat = {
  name: 'spike',
  title: 'log of Spike, the RISC-V reference simulator (-l, --log-commits)',
  extensions: ['.log'],
  options: [...RETIRED_OPTIONS, COUNTS_OPTION],
  sniff: async (head) => BEGINNING.test(await sniffText(head)),
  open: async (source, options) => {
    const base = countBase(options);
    return new RetiredLog(source, options, {
      name: 'spike',
      description: 'a Spike log',
      makeParser: (sink) => new SpikeParser(sink, base),
    });
  },
};
