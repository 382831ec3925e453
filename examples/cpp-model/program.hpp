// SPDX-License-Identifier: Apache-2.0
// The program that runs on the model, and what its instructions do: some of RV32IM.
#ifndef PROGRAM_HPP
#define PROGRAM_HPP

#include <array>
#include <cstdint>
#include <vector>

enum class op : std::uint8_t { addi, andi, srli, add, mul, lw, sw, beq, bne, ecall };

/** A decoded instruction. A register that is not used is 0. */
struct decoded {
    op what;
    unsigned rd, rs1, rs2;
    std::int32_t immediate;
    std::uint32_t bits;
    bool is_branch() const
    {
        return what == op::beq || what == op::bne;
    }
    bool is_memory() const
    {
        return what == op::lw || what == op::sw;
    }
};

namespace assembler
{
inline decoded i_type(op what, unsigned opcode, unsigned funct3, unsigned rd, unsigned rs1, int imm)
{
    const auto bits = static_cast<unsigned>(imm) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
    return {what, rd, rs1, 0, imm, bits};
}
inline decoded r_type(op what, unsigned funct7, unsigned rd, unsigned rs1, unsigned rs2)
{
    return {what, rd, rs1, rs2, 0, funct7 << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x33};
}
inline decoded branch(op what, unsigned rs1, unsigned rs2, int offset)
{
    const auto o = static_cast<unsigned>(offset);
    const unsigned high = (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25;
    const unsigned low = (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7 | 0x63;
    return {what, 0, rs1, rs2, offset, high | rs2 << 20 | rs1 << 15 | unsigned{what == op::bne} << 12 | low};
}
inline decoded store(unsigned rs2, unsigned rs1, int imm)
{
    const auto o = static_cast<unsigned>(imm);
    return {op::sw, 0,   rs1,
            rs2,    imm, (o >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | 2u << 12 | (o & 31) << 7 | 0x23};
}
} // namespace assembler

constexpr std::uint32_t START = 0x80000000, TABLE = 0x1000, TABLE_BYTES = 16384;

/** Counts in a table, at places that no predictor and no cache knows: an LCG chooses them. */
inline std::vector<decoded> program(int rounds)
{
    using namespace assembler;
    return {
        i_type(op::addi, 0x13, 0, 11, 0, rounds),
        i_type(op::addi, 0x13, 0, 5, 0, 1),
        i_type(op::addi, 0x13, 0, 6, 0, 1103),
        i_type(op::addi, 0x13, 0, 10, 0, 1024),
        r_type(op::add, 0, 10, 10, 10),
        r_type(op::add, 0, 10, 10, 10),
        // loop:
        r_type(op::mul, 1, 5, 5, 6),
        i_type(op::addi, 0x13, 0, 5, 5, 1237),
        i_type(op::srli, 0x13, 5, 7, 5, 14),
        i_type(op::andi, 0x13, 7, 7, 7, 0x7FC),
        r_type(op::add, 0, 7, 7, 7),
        r_type(op::add, 0, 7, 7, 7),
        r_type(op::add, 0, 8, 10, 7),
        i_type(op::lw, 0x03, 2, 9, 8, 0),
        i_type(op::andi, 0x13, 7, 12, 9, 1),
        i_type(op::addi, 0x13, 0, 9, 9, 1),
        branch(op::beq, 12, 0, 8), // over the next when the count was even
        r_type(op::add, 0, 13, 13, 9),
        store(9, 8, 0),
        i_type(op::addi, 0x13, 0, 11, 11, -1),
        branch(op::bne, 11, 0, -14 * 4),
        i_type(op::ecall, 0x73, 0, 0, 0, 0),
    };
}

/** What an instruction did: it is executed when it is fetched, the model says when that would have been. */
struct effect {
    std::uint32_t next, address;
    bool taken;
};

/** Registers and memory of the program. */
class machine
{
  public:
    std::uint32_t pc = START;
    std::array<std::uint32_t, 32> x{};
    std::array<std::uint32_t, TABLE_BYTES / 4> memory{};

    effect execute(const decoded &one)
    {
        const std::uint32_t a = x[one.rs1], b = x[one.rs2], i = static_cast<std::uint32_t>(one.immediate);
        effect made{pc + 4, a + i, false};
        std::uint32_t value = 0;
        switch (one.what) {
        case op::addi: value = a + i; break;
        case op::andi: value = a & i; break;
        case op::srli: value = a >> (i & 31); break;
        case op::add: value = a + b; break;
        case op::mul: value = a * b; break;
        case op::lw: value = memory.at((made.address - TABLE) / 4); break;
        case op::sw: memory.at((made.address - TABLE) / 4) = b; break;
        case op::beq: made.taken = a == b; break;
        case op::bne: made.taken = a != b; break;
        case op::ecall: made.next = 0; break;
        }
        if (one.rd) x[one.rd] = value;
        if (made.taken) made.next = pc + i;
        return made;
    }
};

#endif
