/* Two trace workloads, independent of any writer; their schema is workload.yaml. Define the B_* macros for the API under test, then include.
 *
 *   B_BEGIN(time_ps)  B_END()
 *   B_SET(storage, slot, field, value)   B_CLR(storage, slot)   B_ADD(storage, slot, field, delta)   B_PROP(storage, prop, value)
 *   B_STAGE(entity_id u32, stage u8)     event stage_transition {entity_id U32, stage ENUM}
 *   B_FLUSH(entity_id u32, reason u8)    event flush {entity_id U32, reason ENUM}
 *
 * Schema: clock core_clk 1000 ps; scopes root, core0 (protocol cpu); storages, in this order
 *   0 entities         sparse, 512 slots {entity_id U32, pc U64, inst_bits U32, rbid U16}
 *   1 committed_insns  dense, 1 slot {count U64}
 *   2 bp_misses        dense, 1 slot {count U64}
 *   3 rob              sparse buffer, 256 slots {entity_id U32}, properties retire_ptr U16 (role 1), allocate_ptr U16 (role 2)
 * events 0 stage_transition, 1 annotate {U32, STRING_REF}, 2 dependency {U32, U32, ENUM}, 3 flush; pipeline of 8 stages
 *   fetch,decode,rename,dispatch,issue,execute,complete,retire. Checkpoint every 10,000 cycles. Both return the number of items (ops + events).
 */
#include <stdint.h>
enum { W_SLOTS = 512, W_ENT = 0, W_CNT = 1, W_MISS = 2, W_ROB = 3 };
#ifndef W_STATE /* where several threads run: one of each per thread */
#define W_STATE static
#endif
W_STATE uint64_t w_rs;
W_STATE uint32_t w_insn[64];
static inline uint64_t w_rnd(void) { w_rs ^= w_rs << 13; w_rs ^= w_rs >> 7; w_rs ^= w_rs << 17; return w_rs; }
static void w_seed(void) { w_rs = 88172645463325252ull; for (int i = 0; i < 64; i++) w_insn[i] = (uint32_t)w_rnd() | 3; }
static inline uint64_t w_pc(uint64_t pc) { return (w_rnd() & 7) == 0 ? 0x80000000ull + ((w_rnd() & 0xFFFF) << 2) : pc + 4; }

static uint64_t workload_std(uint64_t cycles) { /* 7 items per cycle */
  uint64_t items = 0, pc = 0x80000000ull;
  w_seed();
  for (uint64_t i = 0; i < cycles; i++) {
    uint32_t id = (uint32_t)(i % W_SLOTS);
    pc = w_pc(pc);
    uint32_t bits = w_insn[w_rnd() & 63];
    uint8_t s1 = (uint8_t)(1 + (w_rnd() & 3)), s2 = (uint8_t)(5 + (w_rnd() % 3));
    B_BEGIN(i * 1000);
    B_SET(W_ENT, id, 0, id); B_SET(W_ENT, id, 1, pc); B_SET(W_ENT, id, 2, bits); B_SET(W_ENT, id, 3, i & 255);
    B_STAGE(id, s1); B_STAGE((id + W_SLOTS - 6) % W_SLOTS, s2);
    B_ADD(W_CNT, 0, 0, 1);
    B_END();
    items += 7;
  }
  return items;
}

static uint64_t workload_ooo(uint64_t cycles) { /* in-order allocate, 8 stages, random stalls: about 18 items per cycle */
  W_STATE uint8_t stage[W_SLOTS];
  uint64_t items = 0, pc = 0x80000000ull;
  uint32_t head = 0, tail = 0, count = 0;
  w_seed();
  for (uint64_t i = 0; i < cycles; i++) {
    B_BEGIN(i * 1000);
    uint32_t fetch = (uint32_t)(w_rnd() % 5);
    if (fetch == 4) fetch = 0;
    for (uint32_t k = 0; k < fetch && count < 224; k++) {
      uint32_t id = tail;
      tail = (tail + 1) % W_SLOTS; count++; stage[id] = 0;
      pc = w_pc(pc);
      B_SET(W_ENT, id, 0, id); B_SET(W_ENT, id, 1, pc); B_SET(W_ENT, id, 2, w_insn[w_rnd() & 63]);
      B_SET(W_ROB, id & 255, 0, id); B_STAGE(id, 0);
      items += 5;
    }
    uint32_t walk = count < 24 ? count : 24;
    for (uint32_t k = 0; k < walk; k++) {
      uint32_t id = (head + k) % W_SLOTS;
      if (stage[id] < 7 && (w_rnd() & 1)) { stage[id]++; B_STAGE(id, stage[id]); items++; }
    }
    uint32_t retired = 0;
    while (count && stage[head] == 7 && retired < 4) {
      if ((w_rnd() & 127) == 0) { B_FLUSH(head, 0); B_ADD(W_MISS, 0, 0, 1); items += 2; }
      B_CLR(W_ENT, head); B_CLR(W_ROB, head & 255);
      items += 2; head = (head + 1) % W_SLOTS; count--; retired++;
    }
    if (retired) { B_ADD(W_CNT, 0, 0, retired); B_PROP(W_ROB, 0, head & 255); items += 2; }
    if (fetch) { B_PROP(W_ROB, 1, tail & 255); items++; }
    B_END();
  }
  return items;
}
