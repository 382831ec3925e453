/** How an instruction ends, with the numbers of Kanata's `R`. */
export const RetireType = { RETIRED: 0, FLUSHED: 1 } as const;
