/** DUT properties that the daemon sets; a client's properties of these names are replaced. */

/** Which run a trace belongs to: 32 hexadecimal digits, the same in all traces of it. */
export const RUN_ID_PROPERTY = 'uscope.run_id';
/** Wall clock, ISO 8601. */
export const START_TIME_PROPERTY = 'uscope.start_time';
/** Index of the core; absent: not one of several. */
export const CORE_PROPERTY = 'uscope.core';
