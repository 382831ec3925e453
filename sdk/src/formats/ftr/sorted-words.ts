/** How transactions and relations lie in the words that are sorted. */

/** First words of what is sorted: what it is. */
export const Kind = { BEGIN: 0, END: 1, RELATION: 2 } as const;
/** Kind, tx, stream, generator, t, number of attributes. */
export const HEAD_WORDS = 10;
/** Index, phase and type, name, low and high half of its bits, or the number of the text. */
export const ATTRIBUTE_WORDS = 4;
/** Kind, name, source, sink and their streams. */
export const RELATION_WORDS = 10;
