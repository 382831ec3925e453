/** Clocks of a µScope trace made of flux: one per domain. */
import type { FluxLane } from './survey.js';

export interface DomainClock {
  readonly domain: string;
  readonly name: string;
  /** 0: longer than a clock's period can be. */
  readonly periodPs: number;
  /** What is said of a clock that does not count time. */
  readonly note: string;
}

const MAX_PERIOD = 0xffff_ffffn;
const MAX_CLOCKS = 200;

export class DomainNames {
  readonly all: DomainClock[] = [];
  private readonly byDomain = new Map<string, DomainClock>();
  private readonly byTrace = new Map<number, DomainClock>();

  constructor(lanes: readonly FluxLane[]) {
    for (const lane of lanes) {
      const clock = this.clock(lane);
      if (lane.hasValues && !this.byTrace.has(lane.trace)) this.byTrace.set(lane.trace, clock);
    }
    if (this.all.length === 0) this.all.push({ domain: 'ps', name: 'ps', periodPs: 1, note: '' });
  }

  ofLane({ domain }: FluxLane): string {
    return (this.byDomain.get(domain) ?? this.all[0]).name;
  }

  ofTrace(trace: number): string {
    return (this.byTrace.get(trace) ?? this.all[0]).name;
  }

  private clock({ domain, unit }: FluxLane): DomainClock {
    const known = this.byDomain.get(domain);
    if (known || this.all.length >= MAX_CLOCKS) return known ?? this.all[0];
    const plain = (domain || 'none').replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 40);
    const base = unit.isTime ? plain : `private_${plain}`;
    let name = base;
    for (let n = 2; this.all.some((one) => one.name === name); n++) name = `${base}_${n}`;
    const period = unit.den === 1n && unit.num <= MAX_PERIOD ? Number(unit.num) : unit.den === 1n ? 0 : 1;
    const note = unit.isTime ? '' : `no time: 1 ps represents 1 ${domain.slice(0, 40) || 'unit'}`;
    const clock = { domain, name, periodPs: period, note };
    this.all.push(clock);
    this.byDomain.set(domain, clock);
    return clock;
  }
}
