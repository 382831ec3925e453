# Starts at 0x80 on every core. With TRAPS a handler counts exceptions and interrupts (vectored or not) and skips what raised one.
    .section .start, "ax"
    .org 0x80
    .globl _start
_start:
    la sp, _stack
#ifdef TRAPS
    la t0, handler
    csrw mtvec, t0
#ifdef INTERRUPTS
    li t0, 0x80
    csrw mie, t0
    csrsi mstatus, 8
#endif
#endif
    j main
    .balign 256
handler:
    # Entries of a vector table are jumps to the same place.
    .option push
    .option norvc
    .rept 32
    j trap
    .endr
    .option pop
trap:
    addi sp, sp, -16
    sw t0, 0(sp)
    sw t1, 4(sp)
    sw t2, 8(sp)
#ifdef TRAPS
    csrr t0, mcause
    bltz t0, interrupt
    la t1, traps
    lw t0, 0(t1)
    addi t0, t0, 1
    sw t0, 0(t1)
    csrr t0, mepc
    lbu t1, 0(t0)
    andi t1, t1, 3
    addi t1, t1, -3
    addi t0, t0, 2
    bnez t1, short
    addi t0, t0, 2
short:
    csrw mepc, t0
    j leave
interrupt:
    la t1, interrupts
    lw t0, 0(t1)
    addi t0, t0, 1
    sw t0, 0(t1)
    li t1, 0x10000004
    li t0, 700
    sw t0, 0(t1)
leave:
    lw t0, 0(sp)
    lw t1, 4(sp)
    lw t2, 8(sp)
    addi sp, sp, 16
    mret
#endif
