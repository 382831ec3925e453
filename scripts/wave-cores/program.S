# Sums, calls, loads and stores; runs at address 0 (PicoRV32, Ibex). ORIGIN bytes are left out in front.
  .globl _start
  .space ORIGIN
_start:
  li sp, 0x4000
  li s0, 60
  li s1, 0
outer:
  mv a0, s0
  call fib
  add s1, s1, a0
  la t0, buf
  slli t1, s0, 2
  add t0, t0, t1
  sw a0, 0(t0)
  lbu t2, 1(t0)
  lh  t3, 2(t0)
  sb t2, 3(t0)
  addi s0, s0, -1
  bnez s0, outer
  li a7, 1
  ebreak
fib:
  li t0, 0
  li t1, 1
1: beqz a0, 2f
  add t2, t0, t1
  mv t0, t1
  mv t1, t2
  addi a0, a0, -1
  j 1b
2: mv a0, t0
  ret
  .balign 4
buf: .space 512
