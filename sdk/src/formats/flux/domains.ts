/** Domains of groups: which of them are time, and their unit in ps. */

/** `num` / `den` ps are one unit. */
export interface DomainUnit {
  readonly isTime: boolean;
  readonly num: bigint;
  readonly den: bigint;
}

const PREFIXES = 'yzafpnum kMGTPEZY';
const PICO = PREFIXES.indexOf('p');

/** What is not a time counts as if a unit were a ps, on a separate clock. */
export function unitOf(domain: string): DomainUnit {
  const match = /^([yzafpnumkMGTPEZY]?)s(10{0,2})?$/.exec(domain);
  if (!match) return { isTime: false, num: 1n, den: 1n };
  const exponent = 3 * (PREFIXES.indexOf(match[1] || ' ') - PICO) + ((match[2]?.length ?? 1) - 1);
  return exponent >= 0
    ? { isTime: true, num: 10n ** BigInt(exponent), den: 1n }
    : { isTime: true, num: 1n, den: 10n ** BigInt(-exponent) };
}

/** Rounded down. */
export function toPs(position: bigint, { num, den }: DomainUnit): bigint {
  const product = position * num;
  if (den === 1n) return product;
  return product >= 0n ? product / den : -((-product + den - 1n) / den);
}
