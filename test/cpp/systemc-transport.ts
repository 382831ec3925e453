/** What test/cpp/systemc/transport.hpp printed of its calls, and what recorders recorded of them. */
import type { contentOf } from '../support/ftr-fixtures.js';

type Content = Awaited<ReturnType<typeof contentOf>>;

/** The calls that arrived at the initiator and the target of a link, in order. */
export const callsOf = (stdout: string, link: string): string[] =>
  stdout.split('\n').filter((line) => line.startsWith(`> ${link}_`));

/** The transactions of a link's recorders, with their attributes by name, and their relations. */
export function transfersOf({ transactions, declarations, relations }: Content, link: string) {
  const nameOf = new Map(declarations.map(({ id, name }) => [id, name]));
  const of = (fiber: string) =>
    transactions
      .filter(({ stream }) => nameOf.get(stream) === `${link}_${fiber}`)
      .map(({ id, start, end, attributes }) => ({
        ...{ id, start, end, names: attributes.map((one) => one.name) },
        get: (name: string) => attributes.find((one) => one.name === name)?.value,
      }));
  /** The sources of relations of this name to a transaction. */
  const related = (name: string, sink: bigint): bigint[] =>
    relations.filter((one) => one.name === name && one.sink === sink).map(({ source }) => source);
  const phasesOf = (recorder: string, transfer: bigint): string[] =>
    of(`${recorder}.phases`)
      .filter(({ id }) => related('parent_of', id).includes(transfer))
      .map(({ start, get }) => `${get('phase')} ${start / 1000n}`);
  return { of, related, phasesOf };
}
