/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

/* In the order of INSTRUCTION_CLASSES in sdk/src/semantics/cpu/analysis/instruction-class.ts. */
enum {
    INTEGER,
    LOAD,
    STORE,
    BRANCH,
    JUMP,
    MULTIPLY,
    DIVIDE,
    FLOAT,
    FLOAT_LOAD,
    FLOAT_STORE,
    ATOMIC,
    VECTOR,
    CSR,
    FENCE,
    SYSTEM,
    OTHER,
};

static uint32_t class_of_word(uint32_t bits)
{
    uint32_t funct3 = bits >> 12 & 7;
    switch (bits & 0x7f) {
    case 0x03: return LOAD;
    case 0x0f: return FENCE;
    case 0x13:
    case 0x17:
    case 0x1b:
    case 0x37: return INTEGER;
    case 0x23: return STORE;
    case 0x2f: return ATOMIC;
    case 0x33:
    case 0x3b: return bits >> 25 != 1 ? INTEGER : funct3 < 4 ? MULTIPLY : DIVIDE;
    /* Widths 1 to 4 are of scalars, the others of vectors. */
    case 0x07: return funct3 == 0 || funct3 > 4 ? VECTOR : FLOAT_LOAD;
    case 0x27: return funct3 == 0 || funct3 > 4 ? VECTOR : FLOAT_STORE;
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
    case 0x53: return FLOAT;
    case 0x57: return VECTOR;
    case 0x63: return BRANCH;
    case 0x67:
    case 0x6f: return JUMP;
    case 0x73: return funct3 == 0 || funct3 == 4 ? SYSTEM : CSR;
    default: return OTHER;
    }
}

static uint32_t class_of_quadrant_0(uint32_t half, bool is_64)
{
    switch (half >> 13) {
    case 0:
        if (half == 0) return CSR; /* c.unimp: csrrw of a register that is read-only */
        return (half >> 5 & 0xff) ? INTEGER : OTHER;
    case 1: return FLOAT_LOAD;
    case 2: return LOAD;
    case 3: return is_64 ? LOAD : FLOAT_LOAD;
    case 5: return FLOAT_STORE;
    case 6: return STORE;
    case 7: return is_64 ? STORE : FLOAT_STORE;
    default: return OTHER;
    }
}

static uint32_t class_of_pair(uint32_t half, bool is_64)
{
    uint32_t kind = half >> 10 & 3, operation = half >> 5 & 3;
    bool high = half >> 12 & 1;
    if (kind == 2) return INTEGER;                         /* c.andi */
    if (kind < 2) return high && !is_64 ? OTHER : INTEGER; /* shifts */
    return !high || (is_64 && operation < 2) ? INTEGER : OTHER;
}

static uint32_t class_of_quadrant_1(uint32_t half, bool is_64)
{
    uint32_t rd = half >> 7 & 31, immediate = (half >> 7 & 32) | (half >> 2 & 31);
    switch (half >> 13) {
    case 1: return is_64 ? rd ? INTEGER : OTHER : JUMP;
    case 3: return immediate ? INTEGER : OTHER;
    case 4: return class_of_pair(half, is_64);
    case 5: return JUMP;
    case 6:
    case 7: return BRANCH;
    default: return INTEGER;
    }
}

static uint32_t class_of_quadrant_2(uint32_t half, bool is_64)
{
    uint32_t rd = half >> 7 & 31, rs2 = half >> 2 & 31;
    bool high = half >> 12 & 1;
    switch (half >> 13) {
    case 0: return high && !is_64 ? OTHER : INTEGER;
    case 1: return FLOAT_LOAD;
    case 2: return rd ? LOAD : OTHER;
    case 3: return is_64 ? rd ? LOAD : OTHER : FLOAT_LOAD;
    case 4:
        if (rs2) return INTEGER;
        if (rd) return JUMP;
        return high ? SYSTEM : OTHER; /* c.ebreak */
    case 5: return FLOAT_STORE;
    case 6: return STORE;
    default: return is_64 ? STORE : FLOAT_STORE;
    }
}

uint32_t instruction_class(uint32_t bits, uint32_t xlen)
{
    bool is_64 = xlen == 64;
    switch (bits & 3) {
    case 0: return class_of_quadrant_0(bits & 0xffff, is_64);
    case 1: return class_of_quadrant_1(bits & 0xffff, is_64);
    case 2: return class_of_quadrant_2(bits & 0xffff, is_64);
    default: return (bits & 0x1f) == 0x1f ? OTHER : class_of_word(bits);
    }
}
