/** Written by `make -C sdk/kernel/native sources`: digest of what the addon is built from. */
export const SOURCES_SHA256 = '8dc25ca031981d3f4cf793eb7e24c174eef682413768abae4a556e7a0705f741';
