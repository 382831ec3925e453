# Entry at the reset vector: stack, zeroed .bss, program, and the ECALL that ends the run.
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la   gp, __global_pointer$
    .option pop
    la   sp, __stack_top
    la   t0, __bss_start
    la   t1, __bss_end
clear:
    bgeu t0, t1, run
    sw   zero, 0(t0)
    addi t0, t0, 4
    j    clear
run:
    fence
    call firmware_main
    ecall
stop:
    j    stop
