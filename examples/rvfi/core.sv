// A small RV32I core with machine mode: fetch, execute, memory, one state after the other, no pipeline. It exposes the RISC-V
// Formal Interface and knows nothing of tracing. An exception without a handler (mtvec 0) halts it.
module core (
    input  logic        clk,
    input  logic        rst_n,
    // Answers in the same cycle. `mem_error`: nothing is there.
    output logic [31:0] mem_addr,
    output logic [31:0] mem_wdata,
    output logic [3:0]  mem_wstrb,
    input  logic [31:0] mem_rdata,
    input  logic        mem_error,
    output logic        halted,
    // RISC-V Formal Interface
    output logic        rvfi_valid,
    output logic [63:0] rvfi_order,
    output logic [31:0] rvfi_insn,
    output logic        rvfi_trap,
    output logic        rvfi_halt,
    output logic        rvfi_intr,
    output logic [1:0]  rvfi_mode,
    output logic [1:0]  rvfi_ixl,
    output logic [4:0]  rvfi_rs1_addr,
    output logic [4:0]  rvfi_rs2_addr,
    output logic [31:0] rvfi_rs1_rdata,
    output logic [31:0] rvfi_rs2_rdata,
    output logic [4:0]  rvfi_rd_addr,
    output logic [31:0] rvfi_rd_wdata,
    output logic [31:0] rvfi_pc_rdata,
    output logic [31:0] rvfi_pc_wdata,
    output logic [31:0] rvfi_mem_addr,
    output logic [3:0]  rvfi_mem_rmask,
    output logic [3:0]  rvfi_mem_wmask,
    output logic [31:0] rvfi_mem_rdata,
    output logic [31:0] rvfi_mem_wdata
);
  localparam logic [31:0] Reset = 32'h8000_0000;
  localparam logic [6:0]  Lui = 7'h37, Auipc = 7'h17, Jal = 7'h6f, Jalr = 7'h67, Branch = 7'h63, Load = 7'h03, Store = 7'h23,
                          OpImm = 7'h13, Op = 7'h33, Fence = 7'h0f, System = 7'h73;
  localparam logic [31:0] Ecall = 32'h0000_0073, Ebreak = 32'h0010_0073, Mret = 32'h3020_0073;
  localparam logic [3:0]  FetchMisaligned = 0, FetchFault = 1, Illegal = 2, Breakpoint = 3, LoadMisaligned = 4, LoadFault = 5,
                          StoreMisaligned = 6, StoreFault = 7, EcallM = 11;

  typedef enum logic [1:0] {FETCH, EXECUTE, MEMORY} state_t;
  state_t      state;
  logic [31:0] pc, inst;
  logic        fetch_failed, in_handler_first;
  logic [31:0] x [32];
  logic [31:0] mtvec, mepc, mscratch, mtval;
  logic [3:0]  mcause;
  logic [63:0] order;

  // -- decode
  logic [6:0]  opcode;
  logic [2:0]  funct3;
  logic [4:0]  rs1, rs2, rd;
  logic        reads_rs1, reads_rs2, writes_rd, is_csr;
  logic [31:0] a, b, imm_i, address;
  assign opcode    = inst[6:0];
  assign funct3    = inst[14:12];
  assign is_csr    = opcode == System && funct3[1:0] != 0;
  assign reads_rs1 = opcode inside {Jalr, Branch, Load, Store, OpImm, Op} || (is_csr && !funct3[2]);
  assign reads_rs2 = opcode inside {Branch, Store, Op};
  assign writes_rd = opcode inside {Lui, Auipc, Jal, Jalr, Load, OpImm, Op} || is_csr;
  assign rs1       = reads_rs1 ? inst[19:15] : 5'd0;
  assign rs2       = reads_rs2 ? inst[24:20] : 5'd0;
  assign rd        = writes_rd ? inst[11:7] : 5'd0;
  assign a         = rs1 == 0 ? 32'd0 : x[rs1];
  assign b         = rs2 == 0 ? 32'd0 : x[rs2];
  assign imm_i     = {{20{inst[31]}}, inst[31:20]};
  assign address   = a + (opcode == Store ? {{20{inst[31]}}, inst[31:25], inst[11:7]} : imm_i);

  // -- execute
  logic        is_alternate, condition, taken, misaligned;
  logic [31:0] operand, shifted_arithmetic, alu, target, loaded, csr_old, csr_operand, result;
  assign operand      = opcode == Op ? b : imm_i;
  // By itself: next to an unsigned operand the shift would be unsigned, too.
  assign shifted_arithmetic = $signed(a) >>> operand[4:0];
  assign is_alternate = inst[30] && (opcode == Op || funct3 == 3'd5);
  always_comb begin
    case (funct3)
      3'd0:    alu = is_alternate ? a - operand : a + operand;
      3'd1:    alu = a << operand[4:0];
      3'd2:    alu = {31'd0, $signed(a) < $signed(operand)};
      3'd3:    alu = {31'd0, a < operand};
      3'd4:    alu = a ^ operand;
      3'd5:    alu = is_alternate ? shifted_arithmetic : a >> operand[4:0];
      3'd6:    alu = a | operand;
      default: alu = a & operand;
    endcase
    case (funct3[2:1])
      2'd0:    condition = a == b;
      2'd2:    condition = $signed(a) < $signed(b);
      default: condition = a < b;
    endcase
    case (opcode)
      Branch:  target = pc + {{20{inst[31]}}, inst[7], inst[30:25], inst[11:8], 1'b0};
      Jal:     target = pc + {{12{inst[31]}}, inst[19:12], inst[20], inst[30:21], 1'b0};
      default: target = address & ~32'd1;
    endcase
    case (inst[31:20])
      12'h305: csr_old = mtvec;
      12'h340: csr_old = mscratch;
      12'h341: csr_old = mepc;
      12'h342: csr_old = 32'(mcause);
      12'h343: csr_old = mtval;
      default: csr_old = 32'd0;
    endcase
    csr_operand = funct3[2] ? 32'(inst[19:15]) : a;
    case (opcode)
      Lui:       result = {inst[31:12], 12'd0};
      Auipc:     result = pc + {inst[31:12], 12'd0};
      Jal, Jalr: result = pc + 32'd4;
      Load:      result = loaded;
      System:    result = csr_old;
      default:   result = alu;
    endcase
  end
  assign taken      = opcode inside {Jal, Jalr} || (opcode == Branch && (condition ^ funct3[0]));
  assign misaligned = (funct3[0] && address[0]) || (funct3[1] && address[1:0] != 0);

  // -- memory: words; an access within a word is shifted to and from its bytes
  logic        is_access;
  logic [3:0]  bytes;
  logic [31:0] shifted;
  assign is_access = state == MEMORY;
  assign bytes     = (funct3[1] ? 4'b1111 : funct3[0] ? 4'b0011 : 4'b0001) << address[1:0];
  assign mem_addr  = is_access ? {address[31:2], 2'b00} : pc;
  assign mem_wdata = b << {address[1:0], 3'b000};
  assign mem_wstrb = is_access && opcode == Store && !mem_error ? bytes : 4'b0000;
  assign shifted   = mem_rdata >> {address[1:0], 3'b000};
  always_comb begin
    case (funct3)
      3'd0:    loaded = {{24{shifted[7]}}, shifted[7:0]};
      3'd1:    loaded = {{16{shifted[15]}}, shifted[15:0]};
      3'd4:    loaded = {24'd0, shifted[7:0]};
      3'd5:    loaded = {16'd0, shifted[15:0]};
      default: loaded = shifted;
    endcase
  end

  // -- exceptions
  logic        is_legal, trap;
  logic [3:0]  cause;
  logic [31:0] value;
  always_comb begin
    case (opcode)
      Lui, Auipc, Jal: is_legal = 1'b1;
      Jalr, Fence:     is_legal = funct3 == 0;
      Branch:          is_legal = funct3[2:1] != 2'b01;
      Load:            is_legal = funct3 != 3 && funct3 < 6;
      Store:           is_legal = funct3 < 3;
      OpImm:           is_legal = funct3[1:0] != 2'b01 || (inst[31:25] & (funct3[2] ? 7'h5f : 7'h7f)) == 0;
      Op:              is_legal = (inst[31:25] & (funct3 inside {3'd0, 3'd5} ? 7'h5f : 7'h7f)) == 0;
      System:          is_legal = inst inside {Ecall, Ebreak, Mret} ||
                                  (is_csr && inst[31:20] inside {12'h305, [12'h340:12'h343]});
      default:         is_legal = 1'b0;
    endcase
    {trap, cause, value} = {1'b0, 4'd0, 32'd0};
    if (fetch_failed) {trap, cause, value} = {1'b1, FetchFault, pc};
    else if (!is_legal) {trap, cause, value} = {1'b1, Illegal, inst};
    else if (inst == Ecall) {trap, cause, value} = {1'b1, EcallM, 32'd0};
    else if (inst == Ebreak) {trap, cause, value} = {1'b1, Breakpoint, pc};
    else if (taken && target[1]) {trap, cause, value} = {1'b1, FetchMisaligned, target};
    else if (opcode == Load && misaligned) {trap, cause, value} = {1'b1, LoadMisaligned, address};
    else if (opcode == Store && misaligned) {trap, cause, value} = {1'b1, StoreMisaligned, address};
    else if (is_access && mem_error) {trap, cause, value} = {1'b1, opcode == Load ? LoadFault : StoreFault, address};
  end

  // -- what an instruction ends with
  logic        ends, stops, writes;
  logic [31:0] next;
  assign ends   = !halted && (is_access || (state == EXECUTE && (trap || !(opcode inside {Load, Store}))));
  assign stops  = trap && mtvec == 0;
  assign writes = ends && !trap && rd != 0;
  assign next   = trap ? mtvec : inst == Mret ? mepc : taken ? target : pc + 32'd4;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      state            <= FETCH;
      pc               <= Reset;
      order            <= 64'd0;
      halted           <= 1'b0;
      in_handler_first <= 1'b0;
      {mtvec, mepc, mscratch, mtval, mcause} <= '0;
      for (int i = 0; i < 32; i++) x[i] <= 32'd0;
    end else if (!halted) begin
      state <= ends ? FETCH : state == FETCH ? EXECUTE : MEMORY;
      if (state == FETCH) {fetch_failed, inst} <= {mem_error, mem_rdata};
      if (writes) x[rd] <= result;
      if (ends) begin
        pc               <= next;
        order            <= order + 64'd1;
        halted           <= stops;
        in_handler_first <= trap;
        if (trap) {mepc, mcause, mtval} <= {pc, cause, value};
        else if (is_csr) write_csr();
      end
    end
  end

  function automatic logic [31:0] csr_new();
    case (funct3[1:0])
      2'd1:    return csr_operand;
      2'd2:    return csr_old | csr_operand;
      default: return csr_old & ~csr_operand;
    endcase
  endfunction

  function automatic void write_csr();
    if (funct3[1:0] != 2'd1 && inst[19:15] == 0) return;
    case (inst[31:20])
      12'h305: mtvec    <= csr_new() & ~32'd3;
      12'h340: mscratch <= csr_new();
      12'h341: mepc     <= csr_new() & ~32'd3;
      12'h342: mcause   <= 4'(csr_new());
      default: mtval    <= csr_new();
    endcase
  endfunction

  // -- RISC-V Formal Interface, a register behind
  assign rvfi_mode = 2'd3;
  assign rvfi_ixl  = 2'd1;
  always_ff @(posedge clk) begin
    rvfi_valid     <= rst_n && ends;
    rvfi_order     <= order;
    rvfi_insn      <= inst;
    rvfi_trap      <= trap;
    rvfi_halt      <= stops;
    rvfi_intr      <= in_handler_first;
    rvfi_rs1_addr  <= rs1;
    rvfi_rs2_addr  <= rs2;
    rvfi_rs1_rdata <= a;
    rvfi_rs2_rdata <= b;
    rvfi_rd_addr   <= writes ? rd : 5'd0;
    rvfi_rd_wdata  <= writes ? result : 32'd0;
    rvfi_pc_rdata  <= pc;
    rvfi_pc_wdata  <= next;
    rvfi_mem_addr  <= mem_addr;
    rvfi_mem_rmask <= is_access && opcode == Load && !trap ? bytes : 4'b0000;
    rvfi_mem_wmask <= is_access ? mem_wstrb : 4'b0000;
    rvfi_mem_rdata <= mem_rdata;
    rvfi_mem_wdata <= mem_wdata;
  end
endmodule
