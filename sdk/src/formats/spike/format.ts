/** Logs of Spike, the reference simulator of RISC-V. They are read, not written. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { RetiredLog } from '../pipeline/retired-log.js';
import { ISA_OPTION, START_OPTION } from '../pipeline/retired-trace.js';
import { sniffText } from '../text/sniff.js';
import { isSpikeLine, SpikeParser } from './parse.js';

export const FORMAT: ForeignFormat = {
  name: 'spike',
  title: 'log of Spike, the RISC-V reference simulator (-l, --log-commits)',
  extensions: ['.log'],
  options: [ISA_OPTION, START_OPTION],
  sniff: async (head) => (await sniffText(head)).split('\n').slice(0, 40).some(isSpikeLine),
  open: async (source) => new RetiredLog(source, 'a Spike log', 'spike', () => new SpikeParser()),
};
