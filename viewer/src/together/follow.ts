/** One key follows a handoff: from the selected instruction to what it asked for, step by step, and back. */
import { hookOf } from '../framed/viewer-hook.js';
import { grouped } from '../model/ticks.js';
import { longestStay, requestIn, type Step, stepsOf } from './journey.js';
import type { LaneRef } from './lanes.js';
import { gutter, journey, notice } from './store.js';
import { periodOf, type TimeSync } from './time-sync.js';

/** The element of each lane. */
type FrameOf = (key: string) => HTMLIFrameElement | null;

/** Cycles before and after the instruction's stay in which its request may have been born. */
const SLACK = 64;

/** @returns the way of the instruction that is selected in a core's lane; a sentence why there is none */
async function wayFrom(
  lane: LaneRef,
  networks: readonly LaneRef[],
  frameOf: FrameOf,
): Promise<Step[] | string> {
  const frame = frameOf(lane.key);
  const hook = frame && hookOf(frame);
  const row = hook?.state()?.selectedRow ?? null;
  const details = row === null ? null : await hook?.describe(row);
  if (!frame || !details) return `select an instruction of ${lane.name} first`;
  const stay = longestStay(details);
  if (!stay) return `the trace knows no stages of ${details.text}`;
  const period = periodOf(frame);
  const [fromPs, toPs] = [stay.from * period, (stay.to ?? details.endCycle ?? stay.from + 1) * period];
  const own: Step = { what: `${lane.name}: ${details.text}`, place: 'core', fromPs, toPs };
  for (const network of networks) {
    const found = await requestOf(lane.port, fromPs, toPs, frameOf(network.key));
    if (typeof found === 'string') return found;
    if (found.length > 0)
      return [own, ...found, { ...own, what: `${own.what}, goes on`, fromPs: toPs, toPs: toPs + period }];
  }
  return `no transaction of port ${lane.port} was in flight while ${details.text} waited`;
}

async function requestOf(
  port: number,
  fromPs: number,
  toPs: number,
  frame: HTMLIFrameElement | null,
): Promise<Step[] | string> {
  const hook = frame && hookOf(frame);
  if (!frame || !hook?.info()) return 'the network is not open yet';
  const period = periodOf(frame);
  const args = {
    from: Math.max(0, Math.floor(fromPs / period) - SLACK),
    to: Math.ceil(toPs / period) + SLACK,
  };
  const answer = await hook.askTransactions(args);
  if (!answer?.list)
    return `the instruction waited ${grouped((toPs - fromPs) / period)} cycles: too many transactions to follow`;
  const request = requestIn(answer.list, port, fromPs, toPs, period);
  return request === null ? [] : stepsOf(answer.list, request, period);
}

/** To the next step, or along the way of what is selected now. */
export async function followHandoff(
  direction: 1 | -1,
  lane: LaneRef | null,
  networks: readonly LaneRef[],
  frameOf: FrameOf,
  sync: TimeSync,
  width: number,
): Promise<void> {
  const before = journey.value;
  const isOver = !before || before.at + direction < 0 || before.at + direction >= before.steps.length;
  if (!isOver) {
    goTo(before.steps, before.at + direction, sync, width);
    return;
  }
  if (lane?.kind !== 'core') {
    notice.value = 'select an instruction of a core first';
    return;
  }
  if (networks.length === 0) {
    notice.value = 'none of the traces has a network';
    return;
  }
  const way = await wayFrom(lane, networks, frameOf);
  if (typeof way === 'string') {
    journey.value = null;
    notice.value = way;
  } else goTo(way, 0, sync, width);
}

function goTo(steps: readonly Step[], at: number, sync: TimeSync, width: number): void {
  const { what, fromPs, toPs } = steps[at]!;
  journey.value = { steps, at };
  notice.value = `${at + 1} of ${steps.length}: ${what}`;
  sync.show(fromPs, toPs, width - gutter);
}
