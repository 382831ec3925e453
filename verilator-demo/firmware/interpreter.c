/* A stack machine that runs a program: indirect jumps, and loads that decide where they go. */
#include "workload.h"

enum opcode { PUSH, LOAD, STORE, ADD, MULTIPLY, DIVIDE, REMAINDER, LESS, JUMP, JUMP_IF, HALT };
enum variable { START, N, STEPS, LONGEST, VARIABLES };

struct instruction {
  uint8_t opcode;
  uint8_t operand; /* number, variable, or index of an instruction */
};

/* The longest Collatz sequence that starts below 20. */
static const struct instruction program[] = {
    {PUSH, 1}, {STORE, START},
    /* 2: next start */
    {LOAD, START}, {STORE, N}, {PUSH, 0}, {STORE, STEPS},
    /* 6: next step, unless n < 2 */
    {LOAD, N}, {PUSH, 2}, {LESS, 0}, {JUMP_IF, 29},
    {LOAD, N}, {PUSH, 2}, {REMAINDER, 0}, {JUMP_IF, 18},
    /* 14: even */
    {LOAD, N}, {PUSH, 2}, {DIVIDE, 0}, {JUMP, 23},
    /* 18: odd */
    {LOAD, N}, {PUSH, 3}, {MULTIPLY, 0}, {PUSH, 1}, {ADD, 0},
    /* 23 */
    {STORE, N}, {LOAD, STEPS}, {PUSH, 1}, {ADD, 0}, {STORE, STEPS}, {JUMP, 6},
    /* 29: the sequence has ended */
    {LOAD, LONGEST}, {LOAD, STEPS}, {LESS, 0}, {JUMP_IF, 34}, {JUMP, 36},
    /* 34 */
    {LOAD, STEPS}, {STORE, LONGEST},
    /* 36 */
    {LOAD, START}, {PUSH, 1}, {ADD, 0}, {STORE, START},
    {LOAD, START}, {PUSH, 20}, {LESS, 0}, {JUMP_IF, 2},
    {LOAD, LONGEST}, {HALT, 0},
};

uint32_t interpret_program(void) {
  uint32_t variables[VARIABLES] = {0}, stack[8];
  uint32_t *top = stack; /* the next free place */
  const struct instruction *at = program;
  for (;;) {
    const struct instruction now = *at++;
    switch (now.opcode) {
      case PUSH: *top++ = now.operand; break;
      case LOAD: *top++ = variables[now.operand]; break;
      case STORE: variables[now.operand] = *--top; break;
      case ADD: top--; top[-1] += top[0]; break;
      case MULTIPLY: top--; top[-1] *= top[0]; break;
      case DIVIDE: top--; top[-1] /= top[0]; break;
      case REMAINDER: top--; top[-1] %= top[0]; break;
      case LESS: top--; top[-1] = top[-1] < top[0]; break;
      case JUMP: at = program + now.operand; break;
      case JUMP_IF: if (*--top) at = program + now.operand; break;
      default: return top[-1];
    }
  }
}
