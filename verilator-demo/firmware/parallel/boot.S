# Entry of every core at the reset vector: stack by number, then core 0 clears .bss and lets the others go. An ECALL without
# a handler stops a core.
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la   gp, __global_pointer$
    .option pop
    csrr a0, mhartid
    li   t0, 0x10000008      # how many cores there are
    lw   a1, 0(t0)
    la   sp, __stack_top
    slli t0, a0, 10          # 1 KiB each
    sub  sp, sp, t0
    la   t2, started
    bnez a0, wait
    la   t0, __bss_start
    la   t1, __bss_end
clear:
    bgeu t0, t1, go
    sw   zero, 0(t0)
    addi t0, t0, 4
    j    clear
go:
    fence rw, w
    li   t0, 1
    sw   t0, 0(t2)
    j    run
wait:
    lw   t0, 0(t2)
    beqz t0, wait
    fence r, rw
run:
    mv   s0, a0
    call parallel_run
    bnez s0, stop
    li   t0, 0x10000004
    sw   a0, 0(t0)
stop:
    fence
    ecall
    j    stop

    .globl platform_put
platform_put:
    li   t0, 0x10000000
    sw   a0, 0(t0)
    ret

    .data
    .align 5                 # in a separate cache line
started:
    .word 0
    .align 5
