/** Logs of QEMU's RISC-V targets. They are read, not written. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { RetiredLog } from '../pipeline/retired-log.js';
import { ISA_OPTION, START_OPTION } from '../pipeline/retired-trace.js';
import { sniffText } from '../text/sniff.js';
import { QemuParser } from './parse.js';

const BEGINNING = /^IN:.*\n(Priv: .*\n)?0x[0-9a-f]{8,16}:\s+[0-9a-f]{4,8}\s/m;

export const FORMAT: ForeignFormat = {
  name: 'qemu',
  title: 'log of QEMU for RISC-V (-d in_asm,exec,cpu)',
  extensions: ['.log'],
  options: [ISA_OPTION, START_OPTION],
  sniff: async (head) => BEGINNING.test(await sniffText(head)),
  open: async (source) =>
    new RetiredLog(source, 'a QEMU log of a RISC-V machine', 'qemu', () => new QemuParser()),
};
