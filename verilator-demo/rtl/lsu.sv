// Loads and stores: byte lanes, sign extension, alignment and access exceptions.
module lsu
  import rv_pkg::*;
(
    input  logic        load_i,
    input  logic        store_i,
    input  logic [2:0]  funct3_i,
    input  logic [31:0] addr_i,
    input  logic [31:0] store_data_i,
    input  logic        kill_i,  // an older instruction traps: no side effect
    // data memory, answered within the cycle
    output logic [31:0] dmem_addr_o,
    output logic        dmem_read_o,
    output logic        dmem_write_o,
    output logic [3:0]  dmem_strobe_o,
    output logic [31:0] dmem_wdata_o,
    input  logic [31:0] dmem_rdata_i,
    input  logic        dmem_fault_i,
    output logic [31:0] load_data_o,
    output exc_t        exc_o
);
  logic [1:0] lane;
  logic       misaligned;
  assign lane = addr_i[1:0];

  always_comb begin
    unique case (funct3_i[1:0])
      2'b00:   misaligned = 1'b0;
      2'b01:   misaligned = lane[0];
      default: misaligned = lane != 2'b00;
    endcase
  end

  assign dmem_addr_o  = {addr_i[31:2], 2'b00};
  assign dmem_read_o  = load_i && !misaligned && !kill_i;
  assign dmem_write_o = store_i && !misaligned && !kill_i;
  assign dmem_wdata_o = store_data_i << {lane, 3'b000};

  always_comb begin
    unique case (funct3_i[1:0])
      2'b00:   dmem_strobe_o = 4'b0001 << lane;
      2'b01:   dmem_strobe_o = 4'b0011 << lane;
      default: dmem_strobe_o = 4'b1111;
    endcase
  end

  logic [31:0] shifted;
  assign shifted = dmem_rdata_i >> {lane, 3'b000};
  always_comb begin
    unique case (funct3_i)
      3'b000:  load_data_o = {{24{shifted[7]}}, shifted[7:0]};
      3'b001:  load_data_o = {{16{shifted[15]}}, shifted[15:0]};
      3'b100:  load_data_o = {24'd0, shifted[7:0]};
      3'b101:  load_data_o = {16'd0, shifted[15:0]};
      default: load_data_o = shifted;
    endcase
  end

  always_comb begin
    exc_o = NoException;
    if ((load_i || store_i) && misaligned) begin
      exc_o = '{valid: 1'b1, cause: store_i ? CAUSE_STORE_MISALIGNED : CAUSE_LOAD_MISALIGNED, tval: addr_i};
    end else if ((load_i || store_i) && dmem_fault_i) begin
      exc_o = '{valid: 1'b1, cause: store_i ? CAUSE_STORE_FAULT : CAUSE_LOAD_FAULT, tval: addr_i};
    end
  end
endmodule
