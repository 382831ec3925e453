// Control and status registers of machine mode, traps included. A CSR instruction is alone in the pipeline when it gets
// here, so it never meets a trap.
module csr_file
  import rv_pkg::*;
#(
    parameter bit Atomics = 1'b1
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] hart_id_i,
    // CSR instruction in execute; access_i when it has its effect
    input  logic        access_i,
    input  logic [2:0]  funct3_i,
    input  logic [11:0] number_i,
    input  logic [4:0]  rs1_i,        // register number, or the immediate
    input  logic [31:0] operand_i,
    output logic [31:0] value_o,      // before the access
    input  logic        mret_i,
    output logic [31:0] mepc_o,
    // trap in writeback
    input  logic        trap_i,
    input  logic        trap_irq_i,
    input  cause_e      trap_cause_i,
    input  logic [31:0] trap_tval_i,
    input  logic [31:0] trap_pc_i,
    output logic [31:0] trap_target_o,  // 0: there is no handler
    // interrupts
    input  logic        timer_irq_i,
    output logic        irq_pending_o,  // enabled in mie, whatever mstatus says
    output logic        irq_taken_o,    // to be taken by the next instruction in decode
    // counters
    input  logic        running_i,
    input  logic [1:0]  retires_i
);
  logic        mie, mpie, mtie;
  logic [31:0] mtvec, mscratch, mepc, mcause, mtval;
  logic [63:0] mcycle, minstret;

  always_comb begin
    case (number_i)
      12'h300: value_o = {19'd0, 2'b11, 3'd0, mpie, 3'd0, mie, 3'd0};  // mstatus; MPP: always machine mode
      12'h301: value_o = Atomics ? 32'h4000_1101 : 32'h4000_1100;      // misa: RV32IM, with A or without
      12'h304: value_o = {24'd0, mtie, 7'd0};
      12'h305: value_o = mtvec;
      12'h340: value_o = mscratch;
      12'h341: value_o = mepc;
      12'h342: value_o = mcause;
      12'h343: value_o = mtval;
      12'h344: value_o = {24'd0, timer_irq_i, 7'd0};                   // mip
      12'hb00: value_o = mcycle[31:0];
      12'hb80: value_o = mcycle[63:32];
      12'hb02: value_o = minstret[31:0];
      12'hb82: value_o = minstret[63:32];
      12'hf14: value_o = hart_id_i;                                    // mhartid
      default: value_o = 32'd0;                                        // mvendorid, marchid, mimpid
    endcase
  end

  logic        writes;
  logic [31:0] operand, written;
  assign writes  = access_i && (funct3_i[1:0] == 2'b01 || rs1_i != 5'd0);
  assign operand = funct3_i[2] ? {27'd0, rs1_i} : operand_i;
  always_comb begin
    unique case (funct3_i[1:0])
      2'b01:   written = operand;
      2'b10:   written = value_o | operand;
      default: written = value_o & ~operand;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      mie      <= 1'b0;
      mpie     <= 1'b0;
      mtie     <= 1'b0;
      mtvec    <= 32'd0;
      mscratch <= 32'd0;
      mepc     <= 32'd0;
      mcause   <= 32'd0;
      mtval    <= 32'd0;
    end else if (trap_i) begin
      mepc   <= trap_pc_i;
      mcause <= {trap_irq_i, 27'd0, trap_cause_i};
      mtval  <= trap_tval_i;
      mpie   <= mie;
      mie    <= 1'b0;
    end else if (mret_i) begin
      mie  <= mpie;
      mpie <= 1'b1;
    end else if (writes) begin
      case (number_i)
        12'h300: begin
          mie  <= written[3];
          mpie <= written[7];
        end
        12'h304: mtie     <= written[7];
        12'h305: mtvec    <= {written[31:2], 1'b0, written[0]};
        12'h340: mscratch <= written;
        12'h341: mepc     <= {written[31:2], 2'b00};
        12'h342: mcause   <= written;
        12'h343: mtval    <= written;
        default: ;  // misa, mip and the counters stay as they are
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      mcycle   <= 64'd0;
      minstret <= 64'd0;
    end else begin
      mcycle   <= mcycle + {63'd0, running_i};
      minstret <= minstret + {62'd0, retires_i};
    end
  end

  assign mepc_o        = mepc;
  assign irq_pending_o = timer_irq_i && mtie;
  assign irq_taken_o   = irq_pending_o && mie;

  // Vectored mode concerns interrupts only.
  logic [31:0] base;
  assign base          = {mtvec[31:2], 2'b00};
  assign trap_target_o = (mtvec[0] && trap_irq_i) ? base + {26'd0, trap_cause_i, 2'b00} : base;
endmodule
