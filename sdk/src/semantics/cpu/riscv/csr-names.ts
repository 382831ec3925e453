/** Names of the control and status registers (the unprivileged and privileged ISA manuals), by number. */

const FIXED: Readonly<Record<number, string>> = {
  1: 'fflags',
  2: 'frm',
  3: 'fcsr',
  3072: 'cycle',
  3073: 'time',
  3074: 'instret',
  3200: 'cycleh',
  3201: 'timeh',
  3202: 'instreth',
  256: 'sstatus',
  260: 'sie',
  261: 'stvec',
  262: 'scounteren',
  266: 'senvcfg',
  320: 'sscratch',
  321: 'sepc',
  322: 'scause',
  323: 'stval',
  324: 'sip',
  384: 'satp',
  3857: 'mvendorid',
  3858: 'marchid',
  3859: 'mimpid',
  3860: 'mhartid',
  3861: 'mconfigptr',
  768: 'mstatus',
  769: 'misa',
  770: 'medeleg',
  771: 'mideleg',
  772: 'mie',
  773: 'mtvec',
  774: 'mcounteren',
  778: 'menvcfg',
  784: 'mstatush',
  794: 'menvcfgh',
  800: 'mcountinhibit',
  832: 'mscratch',
  833: 'mepc',
  834: 'mcause',
  835: 'mtval',
  836: 'mip',
  842: 'mtinst',
  843: 'mtval2',
  1952: 'tselect',
  1953: 'tdata1',
  1954: 'tdata2',
  1955: 'tdata3',
  1956: 'tinfo',
  1968: 'dcsr',
  1969: 'dpc',
  1970: 'dscratch0',
  1971: 'dscratch1',
  2816: 'mcycle',
  2818: 'minstret',
  2944: 'mcycleh',
  2946: 'minstreth',
};

const FIRST_HPM = 3;
const LAST_HPM = 31;
const PMP_CONFIGS = 16;
const PMP_ADDRESSES = 64;

const NAMES = allNames();

/** The register's name; its number in hexadecimal where it has none. */
export function csrName(number: number): string {
  return NAMES.get(number) ?? `0x${number.toString(16)}`;
}

function allNames(): ReadonlyMap<number, string> {
  const names = new Map(Object.entries(FIXED).map(([number, name]) => [Number(number), name]));
  for (let i = FIRST_HPM; i <= LAST_HPM; i++) {
    names.set(0xc00 + i, `hpmcounter${i}`);
    names.set(0xc80 + i, `hpmcounter${i}h`);
    names.set(0xb00 + i, `mhpmcounter${i}`);
    names.set(0xb80 + i, `mhpmcounter${i}h`);
    names.set(0x320 + i, `mhpmevent${i}`);
    names.set(0x720 + i, `mhpmevent${i}h`);
  }
  for (let i = 0; i < PMP_CONFIGS; i++) names.set(0x3a0 + i, `pmpcfg${i}`);
  for (let i = 0; i < PMP_ADDRESSES; i++) names.set(0x3b0 + i, `pmpaddr${i}`);
  return names;
}
