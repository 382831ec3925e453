/** Colours that mean the same in the viewer and in the page of `stats`: flushes, and stalls by reason. */

export const FLUSH_COLOURS = { dark: '#ff6b6b', light: '#c9252d' } as const;

/** The colours of reasons, in their order. */
export const REASON_COLOURS = [
  '#cc6677',
  '#ddcc77',
  '#4e9e6b',
  '#88ccee',
  '#aa4499',
  '#e58a4e',
  '#44aa99',
  '#8877cc',
  '#999933',
  '#b5485f',
  '#6f9fd8',
  '#c9a0c9',
  '#7d8a3c',
  '#d9a441',
  '#5fb3b3',
  '#9a9aa5',
] as const;

/** The reasons that are told apart, and the last one for all others. @param labels of the reasons, in the order of the schema */
export const toldApart = (labels: readonly string[]): string[] => [
  ...labels.slice(0, REASON_COLOURS.length - 1),
  'other',
];

/** Place of a reason among those that `toldApart` gives. */
export function reasonPlace(reasons: readonly string[], reason: string): number {
  const place = reasons.indexOf(reason);
  return place < 0 ? reasons.length - 1 : place;
}
