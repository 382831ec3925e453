# uint64_t dot_product(const uint32_t *a, const uint32_t *b, uint32_t n): sum of 64-bit products, in a0 and a1
    .text
    .globl dot_product
dot_product:
    slli a2, a2, 2
    add  a2, a2, a0          # end of a
    li   t0, 0               # sum, low and high word
    li   t1, 0
next:
    bgeu a0, a2, done
    lw   t2, 0(a0)
    lw   t3, 0(a1)
    addi a0, a0, 4
    addi a1, a1, 4
    mul  t4, t2, t3
    mulhu t5, t2, t3
    add  t0, t0, t4
    sltu t4, t0, t4          # carry
    add  t1, t1, t5
    add  t1, t1, t4
    j    next
done:
    mv   a0, t0
    mv   a1, t1
    ret
