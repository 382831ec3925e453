#include "workload.h"

#include "platform.h"

static void put_text(const char *text) {
  while (*text) platform_put(*text++);
}

static void put_decimal(uint32_t value) {
  char digits[10];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) platform_put(digits[--count]);
}

static void put_hex(uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) platform_put("0123456789abcdef"[(value >> shift) & 15]);
}

/* xorshift: the same numbers on every machine */
static uint32_t next_random(uint32_t *state) {
  uint32_t x = *state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}

/* ---- prime numbers: sieve of Eratosthenes, byte stores in a tight loop */

enum { SIEVE_LIMIT = 2500 };
static uint8_t composite[SIEVE_LIMIT];

static uint32_t count_primes(void) {
  uint32_t count = 0;
  for (uint32_t n = 2; n < SIEVE_LIMIT; n++) {
    if (composite[n]) continue;
    count++;
    for (uint32_t multiple = n + n; multiple < SIEVE_LIMIT; multiple += n) composite[multiple] = 1;
  }
  return count;
}

/* ---- sorting: quicksort with insertion sort for short runs; recursion and hard-to-predict branches */

enum { SORT_LENGTH = 300, INSERTION_BELOW = 8 };
static uint32_t values[SORT_LENGTH];

static void insertion_sort(uint32_t *v, int n) {
  for (int i = 1; i < n; i++) {
    uint32_t x = v[i];
    int j = i;
    for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
    v[j] = x;
  }
}

static void quick_sort(uint32_t *v, int n) {
  while (n > INSERTION_BELOW) {
    uint32_t pivot = v[n >> 1];
    int i = 0, j = n - 1;
    while (i <= j) {
      while (v[i] < pivot) i++;
      while (v[j] > pivot) j--;
      if (i <= j) {
        uint32_t t = v[i];
        v[i++] = v[j];
        v[j--] = t;
      }
    }
    quick_sort(v, j + 1);
    v += i;
    n -= i;
  }
  insertion_sort(v, n);
}

static uint32_t sort_numbers(void) {
  uint32_t state = 0x2545f491u, inversions = 0;
  for (int i = 0; i < SORT_LENGTH; i++) values[i] = next_random(&state);
  quick_sort(values, SORT_LENGTH);
  for (int i = 1; i < SORT_LENGTH; i++) inversions += values[i - 1] > values[i];
  return inversions;
}

/* ---- CRC-32 of the sorted numbers, with a table: loads that the next instruction needs */

static uint32_t crc_table[256];

static void make_crc_table(void) {
  for (uint32_t n = 0; n < 256; n++) {
    uint32_t c = n;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    crc_table[n] = c;
  }
}

static uint32_t crc32_words(uint32_t crc, const uint32_t *words, int count) {
  crc = ~crc;
  for (int i = 0; i < count; i++) {
    for (int byte = 0; byte < 4; byte++) crc = crc_table[(crc ^ (words[i] >> (8 * byte))) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

/* ---- text search: Horspool, signed and unsigned byte loads */

static const char haystack[] =
    "A pipeline is a row of stages. Each stage does its small part in one clock cycle, and passes the instruction on. "
    "When a branch goes elsewhere, the instructions fetched behind it are squashed, and the pipeline fills again. "
    "When a load is followed by an instruction that needs its value, the pipeline waits for one cycle. "
    "What is seen from outside is a number: cycles per instruction. What is seen inside is the reason for it.";

static uint32_t text_length(const char *text) {
  uint32_t n = 0;
  while (text[n]) n++;
  return n;
}

static uint32_t count_matches(const char *needle) {
  static uint8_t skip[128];
  uint32_t n = sizeof haystack - 1, m = text_length(needle), found = 0;
  for (int c = 0; c < 128; c++) skip[c] = (uint8_t)m;
  for (uint32_t i = 0; i + 1 < m; i++) skip[(uint8_t)needle[i]] = (uint8_t)(m - 1 - i);
  for (uint32_t at = 0; at + m <= n; at += skip[(uint8_t)haystack[at + m - 1]]) {
    uint32_t k = m;
    while (k && haystack[at + k - 1] == needle[k - 1]) k--;
    if (!k) found++;
  }
  return found;
}

/* ---- matrix product: nested loops around a multiplication */

enum { MATRIX = 12 };
static int16_t matrix_a[MATRIX][MATRIX], matrix_b[MATRIX][MATRIX];
static int32_t matrix_c[MATRIX][MATRIX];

static uint32_t multiply_matrices(void) {
  uint32_t state = 0x9e3779b9u, trace = 0;
  for (int i = 0; i < MATRIX; i++) {
    for (int j = 0; j < MATRIX; j++) {
      matrix_a[i][j] = (int16_t)(next_random(&state) >> 20) - 2048;
      matrix_b[i][j] = (int16_t)(next_random(&state) >> 20) - 2048;
    }
  }
  for (int i = 0; i < MATRIX; i++) {
    for (int j = 0; j < MATRIX; j++) {
      int32_t sum = 0;
      for (int k = 0; k < MATRIX; k++) sum += matrix_a[i][k] * matrix_b[k][j];
      matrix_c[i][j] = sum;
    }
  }
  for (int i = 0; i < MATRIX; i++) trace += (uint32_t)matrix_c[i][i];
  return trace;
}

/* ---- greatest common divisors: division after division, each waiting for the one before */

static uint32_t sum_of_divisors(void) {
  uint32_t state = 0x01234567u, sum = 0;
  for (int i = 0; i < 24; i++) {
    uint32_t a = (next_random(&state) >> 12) * 30, b = ((next_random(&state) >> 12) | 1) * 12;
    while (b) {
      uint32_t r = a % b;
      a = b;
      b = r;
    }
    sum += a;
  }
  return sum;
}

/* ---- what the core cannot do: instructions and accesses that a trap handler emulates */

static uint32_t ones_in_text(void) {
  uint32_t ones = 0;
  for (uint32_t at = 1; at + 4 < 100; at += 5) {
    ones += platform_count_ones(platform_load_unaligned((const uint8_t *)haystack + at));
  }
  return ones;
}

static uint32_t fold(uint32_t checksum, uint32_t value) {
  return ((checksum << 5) | (checksum >> 27)) ^ value;
}

static uint32_t report(uint32_t checksum, const char *what, uint32_t value) {
  put_text(what);
  put_decimal(value);
  platform_put('\n');
  return fold(checksum, value);
}

static uint32_t report_hex(uint32_t checksum, const char *what, uint32_t value) {
  put_text(what);
  put_hex(value);
  platform_put('\n');
  return fold(checksum, value);
}

uint32_t workload_run(void) {
  uint32_t checksum = 0;
  checksum = report(checksum, "primes below 2500: ", count_primes());
  checksum = report(checksum, "inversions after sorting: ", sort_numbers());
  make_crc_table();
  checksum = report_hex(checksum, "crc-32 of the sorted numbers: ", crc32_words(0, values, SORT_LENGTH));
  checksum = report(checksum, "matches of \"pipeline\": ", count_matches("pipeline"));
  checksum = report(checksum, "matches of \"cycle\": ", count_matches("cycle"));
  checksum = report(checksum, "matches of \"instruction\": ", count_matches("instruction"));
  checksum = report(checksum, "trace of the matrix product: ", multiply_matrices());
  uint64_t square = dot_product(values, values, SORT_LENGTH);
  checksum = report_hex(checksum, "sum of squares, high word: ", (uint32_t)(square >> 32));
  checksum = report_hex(checksum, "sum of squares, low word: ", (uint32_t)square);
  checksum = report(checksum, "sum of greatest common divisors: ", sum_of_divisors());
  checksum = report(checksum, "ones in the text: ", ones_in_text());
  start_samples();
  checksum = report(checksum, "longest sequence, interpreted: ", interpret_program());
  checksum = report(checksum, "filtered samples: ", filter_samples());
  for (int i = 0; i < MATRIX; i++) {
    for (int j = 0; j < MATRIX; j++) checksum = fold(checksum, (uint32_t)matrix_c[i][j]);
  }
  return report_hex(checksum, "checksum of everything: ", checksum);
}
