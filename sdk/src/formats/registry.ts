/** The foreign formats, each loaded when it is asked for: the command line starts without them. */
import type { ForeignFormat } from './common/foreign-format.js';

type Load = () => Promise<{ readonly FORMAT: ForeignFormat }>;

/** In the order in which a file's beginning is tried: formats with a magic number before those recognized by their text. */
export const FORMATS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['stf', () => import('./stf/format.js')],
  ['ftr', () => import('./ftr/format.js')],
  ['flux', () => import('./flux/format.js')],
  ['ctrace', () => import('./ctrace/format.js')],
  ['konata', () => import('./konata/format.js')],
  ['spike', () => import('./spike/format.js')],
  ['qemu', () => import('./qemu/format.js')],
  ['gem5', () => import('./gem5/format.js')],
  ['perfetto', () => import('./perfetto/format.js')],
  ['vcd', () => import('./vcd/format.js')],
  ['fst', () => import('./vcd/fst.js')],
]);
