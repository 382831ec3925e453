# Entry at the reset vector: stack, zeroed .bss, trap handler, program, and the ECALL that ends the run.
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
    la   t0, trap_entry
    csrw mtvec, t0
    call firmware_main
    fence
    csrw mtvec, zero         # without a handler the core stops
    ecall
stop:
    j    stop

# All registers go into a frame of 32 words on the stack, where the handler may read and change them: word n is xn.
    .text
    .align 2
    .globl trap_entry
trap_entry:
    addi sp, sp, -128
    sw   x1, 4(sp)
    .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sw   x\n, 4*\n(sp)
    .endr
    mv   a0, sp
    call trap_handler
    lw   x1, 4(sp)
    .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    lw   x\n, 4*\n(sp)
    .endr
    addi sp, sp, 128
    mret
