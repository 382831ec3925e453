/* Three parts, each with a result that does not depend on who did what: a sorted list under a spin lock with a histogram
 * under a ticket lock, jobs that go from a producer through workers to a collector, and a matrix product whose rows are
 * handed out by a counter. Barriers separate them. */
#include "parallel.h"

#include "sync.h"

enum { MAX_CORES = 8, KEYS = 48, BINS = 16, JOBS = 72, SIZE = 12 };

static barrier_t barrier;

static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

static uint32_t fold(uint32_t sum, uint32_t value) { return mix(sum + value) + (sum << 5 | sum >> 27); }

/* ---- a sorted list that all cores insert into */

struct node { uint32_t key, next; };  /* next: index plus 1; 0: none */
static spin_lock_t list_lock;
static struct node nodes[KEYS];
static uint32_t list_first;
static ticket_lock_t bins_lock;
static uint32_t bins[BINS];

static void insert(uint32_t index) {
  nodes[index].key = mix(index + 1);
  spin_lock(&list_lock);
  uint32_t *link = &list_first;
  while (*link && nodes[*link - 1].key < nodes[index].key) link = &nodes[*link - 1].next;
  nodes[index].next = *link;
  *link = index + 1;
  spin_unlock(&list_lock);
}

static void sort_keys(uint32_t core, uint32_t cores) {
  for (uint32_t i = core; i < KEYS; i += cores) {
    insert(i);
    uint32_t bin = nodes[i].key % BINS;
    ticket_lock(&bins_lock);
    bins[bin] += nodes[i].key >> 8;
    ticket_unlock(&bins_lock);
  }
}

static uint32_t list_result(void) {
  uint32_t sum = 0;
  for (uint32_t at = list_first; at; at = nodes[at - 1].next) sum = fold(sum, nodes[at - 1].key);
  for (uint32_t i = 0; i < BINS; i++) sum = fold(sum, bins[i]);
  return sum;
}

/* ---- jobs: core 0 produces, the last collects, those between work; of two the last works as well, one does all */

static ring_t to_worker[MAX_CORES], to_collector[MAX_CORES];
static uint32_t done[JOBS];

struct part { uint32_t produced, handed_to, collected; message_t result; int has_result; };

static void produce(struct part *part, uint32_t first, uint32_t workers) {
  if (part->produced == JOBS) return;
  message_t job = {part->produced, mix(0x5eed + part->produced)};
  part->handed_to = (part->handed_to + 1) % workers;
  if (ring_put(&to_worker[first + part->handed_to], job)) part->produced++;
}

/* Steps of the Collatz sequence from a number that depends on the job, a few hundred cycles. */
static uint32_t work_on(uint32_t seed) {
  uint32_t n = (seed & 0xfff) + 1, steps = 0, high = n;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    if (n > high) high = n;
    steps++;
  }
  return steps << 20 ^ high;
}

static void work(struct part *part, uint32_t core) {
  message_t job;
  if (!part->has_result && ring_take(&to_worker[core], &job)) {
    part->result = (message_t){job.number, work_on(job.value)};
    part->has_result = 1;
  }
  if (part->has_result && ring_put(&to_collector[core], part->result)) part->has_result = 0;
}

static void collect(struct part *part, uint32_t cores) {
  message_t result;
  for (uint32_t from = 0; from < cores; from++) {
    if (!ring_take(&to_collector[from], &result)) continue;
    done[result.number] = result.value;
    part->collected++;
  }
}

static uint32_t jobs_done;

static void run_jobs(uint32_t core, uint32_t cores) {
  struct part part = {0, 0, 0, {0, 0}, 0};
  uint32_t first = cores > 1 ? 1 : 0, workers = cores > 2 ? cores - 2 : 1;
  while (!__atomic_load_n(&jobs_done, __ATOMIC_ACQUIRE)) {
    if (core == 0) produce(&part, first, workers);
    if (core >= first && core < first + workers) work(&part, core);
    if (core == cores - 1) {
      collect(&part, cores);
      if (part.collected == JOBS) __atomic_store_n(&jobs_done, 1, __ATOMIC_RELEASE);
    }
  }
}

static uint32_t jobs_result(void) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < JOBS; i++) sum = fold(sum, done[i]);
  return sum;
}

/* ---- a matrix product: rows are handed out, the trace is added up by all, the largest element is found by all */

static uint32_t left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];
static uint32_t rows_filled, rows_taken, trace_sum, largest, rows_done;

static void fill_rows(void) {
  uint32_t row;
  while ((row = __atomic_fetch_add(&rows_filled, 1, __ATOMIC_RELAXED)) < SIZE) {
    for (uint32_t i = 0; i < SIZE; i++) {
      left[row][i] = mix(row * SIZE + i) & 0xff;
      right[row][i] = mix(row + i * SIZE) & 0xff;
    }
  }
}

static void raise(uint32_t *to, uint32_t value) {
  uint32_t seen = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(to, &seen, value, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
}

static void multiply_rows(void) {
  uint32_t row;
  while ((row = __atomic_fetch_add(&rows_taken, 1, __ATOMIC_RELAXED)) < SIZE) {
    for (uint32_t column = 0; column < SIZE; column++) {
      uint32_t sum = 0;
      for (uint32_t i = 0; i < SIZE; i++) sum += left[row][i] * right[i][column];
      product[row][column] = sum;
    }
    __atomic_fetch_add(&trace_sum, product[row][row], __ATOMIC_RELAXED);
    __atomic_fetch_xor(&rows_done, 1u << row, __ATOMIC_RELAXED);
    raise(&largest, product[row][SIZE - 1]);
  }
}

static uint32_t product_result(void) {
  uint32_t sum = fold(fold(rows_done, trace_sum), largest);
  for (uint32_t row = 0; row < SIZE; row++) {
    for (uint32_t column = 0; column < SIZE; column++) sum = fold(sum, product[row][column]);
  }
  return sum;
}

/* ---- */

static void print(const char *text) {
  while (*text) platform_put(*text++);
}

static void print_result(const char *part, uint32_t result) {
  print(part);
  for (int shift = 28; shift >= 0; shift -= 4) platform_put("0123456789abcdef"[result >> shift & 15]);
  platform_put('\n');
}

uint32_t parallel_run(uint32_t core, uint32_t cores) {
  uint32_t sum = 0;
  barrier_wait(&barrier, cores);
  sort_keys(core, cores);
  barrier_wait(&barrier, cores);
  if (core == 0) print_result("sorted list   ", sum = fold(sum, list_result()));
  run_jobs(core, cores);
  barrier_wait(&barrier, cores);
  if (core == 0) print_result("jobs          ", sum = fold(sum, jobs_result()));
  fill_rows();
  barrier_wait(&barrier, cores);
  multiply_rows();
  barrier_wait(&barrier, cores);
  if (core == 0) print_result("product       ", sum = fold(sum, product_result()));
  return sum;
}
