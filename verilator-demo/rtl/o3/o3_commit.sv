// Commits the oldest instructions, up to two in a cycle, in program order, and takes exceptions and interrupts precisely.
// What concerns the machine happens here, alone: CSR instructions, mret, wfi, fences, stores to devices.
module o3_commit
  import rv_pkg::*;
  import o3_pkg::*;
(
    input  logic        running_i,
    input  rob_entry_t  oldest_i [Width],
    input  logic        valid_i [Width],
    input  logic        done_i [Width],
    input  exc_t        exc_i [Width],
    input  logic        device_i [Width],
    input  logic        violated_i [Width],  // of the oldest loads
    input  logic        drained_i,
    input  logic        device_here_i,
    input  logic [31:0] device_addr_i,
    input  logic        irq_pending_i,
    input  logic        irq_taken_i,
    input  logic [31:0] trap_target_i,
    input  logic [31:0] mepc_i,
    output logic [1:0]  commit_o,
    output logic        csr_o,               // the first one accesses a CSR
    output logic        mret_o,
    output logic        device_store_o,      // the first one stores to a device, if that is there
    output logic        sleeps_o,            // wfi
    output logic        trap_o,
    output exc_t        trap_exc_o,
    output logic        violation_o,
    output logic        flush_o,
    output squash_e     reason_o,
    output redirect_t   redirect_o
);
  logic sound, interrupted, faults, wfi;
  logic violated [Width];
  assign wfi         = oldest_i[0].system == SYS_WFI;
  // A wfi ends before the interrupt is taken, or it would sleep again.
  assign interrupted = running_i && valid_i[0] && irq_taken_i && !(wfi && !exc_i[0].valid);
  assign violated[0] = oldest_i[0].kind.load && violated_i[0];
  assign violated[1] = oldest_i[1].kind.load && violated_i[oldest_i[0].kind.load ? 1 : 0];
  assign violation_o = running_i && done_i[0] && violated[0] && !interrupted;
  assign sound       = running_i && done_i[0] && !exc_i[0].valid && !violated[0] && !interrupted;
  assign device_store_o = sound && oldest_i[0].kind.store && device_i[0] && drained_i;
  assign faults      = device_store_o && !device_here_i;

  // What the first one waits for, and whether another one may follow.
  logic ready, plain, first;
  always_comb begin
    plain = 1'b0;
    unique case (oldest_i[0].system)
      SYS_WFI:   ready = irq_pending_i;
      SYS_FENCE: ready = drained_i;
      SYS_NONE: begin
        ready = !device_i[0] || (device_store_o && !faults);
        plain = !device_i[0];
      end
      default:   ready = 1'b1;
    endcase
  end
  assign first       = sound && ready;
  assign commit_o[0] = first;
  assign commit_o[1] = first && plain && done_i[1] && !exc_i[1].valid && !violated[1]
      && oldest_i[1].system == SYS_NONE && !device_i[1];
  assign csr_o    = first && oldest_i[0].system == SYS_CSR;
  assign mret_o   = first && oldest_i[0].system == SYS_MRET;
  assign sleeps_o = sound && wfi && !irq_pending_i;

  assign trap_o = interrupted || (running_i && done_i[0] && exc_i[0].valid && !violated[0]) || faults;
  always_comb begin
    if (interrupted) trap_exc_o = TimerInterrupt;
    else if (faults) trap_exc_o = exception(CAUSE_STORE_FAULT, device_addr_i);
    else trap_exc_o = exc_i[0];
  end

  assign flush_o = trap_o || violation_o || mret_o;
  always_comb begin
    reason_o = SQUASH_CLEAR;
    if (interrupted) reason_o = SQUASH_INTERRUPT;
    else if (trap_o) reason_o = SQUASH_EXCEPTION;
    else if (violation_o) reason_o = SQUASH_MEMORY_ORDER;
    redirect_o = '{
        valid: flush_o, target: oldest_i[0].pc, return_top: oldest_i[0].return_top, history: oldest_i[0].history
    };
    if (trap_o) redirect_o.target = trap_target_i;
    else if (mret_o) redirect_o.target = mepc_i;
  end
endmodule
