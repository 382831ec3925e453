/** Logs of QEMU's RISC-V targets. They are read, not written. */
import type { ForeignFormat } from '../common/foreign-format.js';
import { RETIRED_OPTIONS, RetiredLog } from '../retired/log.js';
import { sniffText } from '../text/unpack.js';
import { QemuParser } from './parse.js';

const BEGINNING = /^IN:.*\n(Priv: .*\n)?0x[0-9a-f]{8,16}:\s+[0-9a-f]{4,8}\s/m;

export const FORMAT: ForeignFormat = {
  name: 'qemu',
  title: 'log of QEMU for RISC-V (-d in_asm,exec,cpu)',
  extensions: ['.log'],
  options: RETIRED_OPTIONS,
  sniff: async (head) => BEGINNING.test(await sniffText(head)),
  open: async (source, options) =>
    new RetiredLog(source, options, {
      name: 'qemu',
      description: 'a QEMU log of a RISC-V machine',
      makeParser: (sink) => new QemuParser(sink),
    }),
};
