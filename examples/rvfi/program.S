# Sorts words, sums bytes, calls itself, and runs into every exception the core knows. The handler counts them in s11 and goes
# on behind the instruction, or where a1 says when that is not 0. With mtvec 0 an exception ends the program.
    .globl _start
_start:
    la    sp, stack_end
    la    t0, handler
    csrw  mtvec, t0
    li    s11, 0
    li    a1, 0

    # insertion sort of `data`
    la    s0, data
    li    s1, 4                 # byte offset of the next one to insert
outer:
    add   t0, s0, s1
    lw    t1, 0(t0)
inner:
    beq   t0, s0, placed
    lw    t2, -4(t0)
    bge   t1, t2, placed
    sw    t2, 0(t0)
    addi  t0, t0, -4
    j     inner
placed:
    sw    t1, 0(t0)
    addi  s1, s1, 4
    li    t3, 4 * 24
    bltu  s1, t3, outer

    # bytes and halves, signed and not, at every place of a word
    la    s2, bytes
    li    s3, 0
    li    t0, 0
sum:
    add   t1, s2, t0
    lb    t2, 0(t1)
    lbu   t3, 0(t1)
    add   s3, s3, t2
    xor   s3, s3, t3
    sb    s3, 16(t1)
    addi  t0, t0, 1
    slti  t4, t0, 16
    bnez  t4, sum
    lh    t5, 2(s2)
    lhu   t6, 2(s2)
    sh    t6, 18(s2)
    sub   s3, t5, t6
    sra   s4, s3, 3
    srl   s5, s3, 3
    sll   s6, s3, t0
    sltu  s7, s5, s4

    # every operation on numbers of both signs
    li    s3, 0x80001234
    li    t0, -37
    sra   s4, s3, t0
    srl   s5, s3, t0
    sll   s6, s3, t0
    slt   s7, s3, t0
    sltu  s7, s3, t0
    slt   s7, t0, s3
    sltu  s7, t0, s3
    and   s7, s3, t0
    or    s7, s3, t0
    xor   s7, s3, t0
    sub   s7, s3, t0
    srai  s4, s3, 31
    srai  s4, s3, 1
    srli  s5, s3, 31
    slli  s6, s3, 7
    slti  s7, s3, -1
    sltiu s7, s3, -1
    xori  s7, s3, -1
    ori   s7, s3, 0x555
    andi  s7, s3, -16
    bgeu  s3, t0, 1f
    bge   t0, s3, 1f
    addi  s7, s7, 1
1:  blt   s3, t0, 1f
    addi  s7, s7, 2
1:  bne   s3, s3, 1f
    addi  s7, s7, 4
1:

    li    a0, 11
    call  fibonacci
    mv    s8, a0

    # exceptions
    ecall
    ebreak
    .word 0                     # illegal
    .word 0x0000b003            # ld: illegal in RV32
    lw    t0, 1(s0)             # misaligned
    lh    t0, 3(s0)
    sw    t0, 2(s0)
    sh    t0, 1(s0)
    lw    t0, 0(zero)           # nothing there
    sw    t0, 0(zero)
    la    t1, resume + 2
    jr    t1                    # misaligned target
resume:
    la    a1, resume_2
    jalr  ra, 0(zero)           # nothing to execute there
resume_2:
    li    a1, 0

    la    s9, text
print:
    lbu   a0, 0(s9)
    beqz  a0, end
    lui   t0, 0x10000
    sb    a0, 0(t0)
    addi  s9, s9, 1
    j     print
end:
    fence
    csrrwi s10, mtvec, 0
    ebreak

fibonacci:                      # a0 = fib(a0)
    li    t0, 2
    blt   a0, t0, small
    addi  sp, sp, -16
    sw    ra, 12(sp)
    sw    s0, 8(sp)
    mv    s0, a0
    addi  a0, s0, -1
    call  fibonacci
    sw    a0, 4(sp)
    addi  a0, s0, -2
    call  fibonacci
    lw    t0, 4(sp)
    add   a0, a0, t0
    lw    s0, 8(sp)
    lw    ra, 12(sp)
    addi  sp, sp, 16
small:
    ret

    .balign 4
handler:
    csrw  mscratch, t0
    addi  s11, s11, 1
    csrr  t0, mepc
    addi  t0, t0, 4
    beqz  a1, 1f
    mv    t0, a1
1:  csrw  mepc, t0
    csrr  t0, mscratch
    mret

    .balign 4
data:
    .word 870, -12, 45, 0, 991, 33, -7, 1000000, 2, 2, -90000, 18, 64, 5, 77, -1, 310, 8, 6, 4, 3, 1, 12345, -2147483648
bytes:
    .byte 1, 0x80, 0xff, 0x7f, 9, 200, 13, 77, 0x55, 0xaa, 0, 254, 3, 127, 128, 129
    .zero 32
text:
    .asciz "sorted\n"
    .balign 16
    .zero 512
stack_end:
