/* SPDX-License-Identifier: Apache-2.0 */
/* Field types: sizes, names, and which values fit. */
#include <stdio.h>

#include "schema/schema.h"

unsigned uscopei_type_size(uint8_t type)
{
    switch (type) {
    case FT_U8:
    case FT_I8:
    case FT_BOOL:
    case FT_ENUM: return 1;
    case FT_U16:
    case FT_I16: return 2;
    case FT_U32:
    case FT_I32:
    case FT_STRING_REF: return 4;
    case FT_U64:
    case FT_I64: return 8;
    default: return 0;
    }
}

const char *uscopei_type_name(uint8_t type)
{
    static const char *const names[] = {"?",   "u8",  "u16", "u32",  "u64",    "i8",
                                        "i16", "i32", "i64", "bool", "string", "enum"};
    return type < sizeof names / sizeof *names ? names[type] : names[0];
}

uint64_t uscopei_type_limit(uint8_t type)
{
    switch (type) {
    case FT_BOOL: return 2;
    case FT_STRING_REF: return 0;
    case FT_U64:
    case FT_I64: return UINT64_MAX;
    default: return UINT64_C(1) << (8 * uscopei_type_size(type));
    }
}

uscopei_code uscopei_check_value(uint8_t type, uint64_t value, uint32_t strings)
{
    switch (type) {
    case FT_U64:
    case FT_I64: return E_NONE;
    case FT_STRING_REF: return value < strings ? E_NONE : E_OP_STRING;
    case FT_I8:
    case FT_I16:
    case FT_I32: {
        unsigned bits = 8 * uscopei_type_size(type);
        bool sign_extended = value >> (bits - 1) == UINT64_MAX >> (bits - 1);
        return value < uscopei_type_limit(type) || sign_extended ? E_NONE : E_OP_VALUE;
    }
    default: return value < uscopei_type_limit(type) ? E_NONE : E_OP_VALUE;
    }
}

void uscopei_format_hex(uint64_t value, char *out, size_t size)
{
    char digits[17];
    int length = snprintf(digits, sizeof digits, "%llx", (unsigned long long)value);
    size_t at = 0;
    const char prefix[] = "0x";
    for (int i = 0; i < 2 && at + 1 < size; i++)
        out[at++] = prefix[i];
    for (int i = 0; i < length && at + 1 < size; i++) {
        if (i > 0 && (length - i) % 4 == 0 && at + 2 < size) out[at++] = '_';
        out[at++] = digits[i];
    }
    out[at] = 0;
}
