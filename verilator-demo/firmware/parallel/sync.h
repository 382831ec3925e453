/* Locks, barriers and rings: everything by which cores wait for each other or hand something over. */
#ifndef SYNC_H
#define SYNC_H

#include <stdint.h>

/* ---- spin lock: the core that writes the 1 has it. It reads before it tries again, so that waiting stays in the cache. */
typedef struct { uint32_t taken; } spin_lock_t;

static inline void spin_lock(spin_lock_t *lock) {
  for (;;) {
    uint32_t free = 0;
    if (__atomic_compare_exchange_n(&lock->taken, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED)) {
    }
  }
}

static inline void spin_unlock(spin_lock_t *lock) { __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE); }

/* ---- ticket lock: served in the order of arrival */
typedef struct { uint32_t next, serving; } ticket_lock_t;

static inline void ticket_lock(ticket_lock_t *lock) {
  uint32_t mine = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != mine) {
  }
}

static inline void ticket_unlock(ticket_lock_t *lock) {
  __atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
}

/* ---- barrier: the last to come lets all go on */
typedef struct { uint32_t arrived, phase; } barrier_t;

static inline void barrier_wait(barrier_t *barrier, uint32_t cores) {
  uint32_t phase = __atomic_load_n(&barrier->phase, __ATOMIC_RELAXED);
  if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == cores) {
    barrier->arrived = 0;
    __atomic_store_n(&barrier->phase, phase + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&barrier->phase, __ATOMIC_ACQUIRE) == phase) {
    }
  }
}

/* ---- ring: messages from one core to another, without a lock */
enum { RING_SLOTS = 4 };
typedef struct { uint32_t number, value; } message_t;
typedef struct {
  uint32_t written __attribute__((aligned(32)));  /* each in a separate cache line */
  uint32_t taken __attribute__((aligned(32)));
  message_t slots[RING_SLOTS] __attribute__((aligned(32)));
} ring_t;

/* 0: the ring is full. */
static inline int ring_put(ring_t *ring, message_t message) {
  uint32_t at = ring->written;
  if (at - __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE) == RING_SLOTS) return 0;
  ring->slots[at % RING_SLOTS] = message;
  __atomic_store_n(&ring->written, at + 1, __ATOMIC_RELEASE);
  return 1;
}

/* 0: the ring is empty. */
static inline int ring_take(ring_t *ring, message_t *message) {
  uint32_t at = ring->taken;
  if (__atomic_load_n(&ring->written, __ATOMIC_ACQUIRE) == at) return 0;
  *message = ring->slots[at % RING_SLOTS];
  __atomic_store_n(&ring->taken, at + 1, __ATOMIC_RELEASE);
  return 1;
}

#endif
