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

/* Of opcodes whose class depends on other fields. */
enum { BY_FUNCT7 = OTHER + 1, BY_WIDTH_LOAD, BY_WIDTH_STORE, BY_FUNCT3 };

/* By opcode, bits 2 to 6: looked up, as the branches of a switch could not be foreseen. */
static const uint8_t classes[32] = {
    LOAD,   BY_WIDTH_LOAD,  OTHER, FENCE,  INTEGER,   INTEGER, INTEGER,   OTHER,
    STORE,  BY_WIDTH_STORE, OTHER, ATOMIC, BY_FUNCT7, INTEGER, BY_FUNCT7, OTHER,
    FLOAT,  FLOAT,          FLOAT, FLOAT,  FLOAT,     VECTOR,  OTHER,     OTHER,
    BRANCH, JUMP,           OTHER, JUMP,   BY_FUNCT3, OTHER,   OTHER,     OTHER,
};

static uint32_t class_of_word(uint32_t bits)
{
    uint32_t found = classes[bits >> 2 & 31], funct3 = bits >> 12 & 7;
    switch (found) {
    case BY_FUNCT7: return bits >> 25 != 1 ? INTEGER : funct3 < 4 ? MULTIPLY : DIVIDE;
    /* Widths 1 to 4 are of scalars, the others of vectors. */
    case BY_WIDTH_LOAD: return funct3 == 0 || funct3 > 4 ? VECTOR : FLOAT_LOAD;
    case BY_WIDTH_STORE: return funct3 == 0 || funct3 > 4 ? VECTOR : FLOAT_STORE;
    case BY_FUNCT3: return funct3 == 0 || funct3 == 4 ? SYSTEM : CSR;
    default: return found;
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
    default: return class_of_word(bits);
    }
}
