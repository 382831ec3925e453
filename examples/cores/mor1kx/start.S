# OpenRISC begins at 0x100; exceptions are not expected.
    .section .start, "ax"
    .org 0x100
    .globl _start
_start:
    l.movhi r0, 0
    l.movhi r1, hi(_stack)
    l.ori r1, r1, lo(_stack)
    l.j main
    l.nop
