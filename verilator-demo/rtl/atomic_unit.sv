// The A extension's operations where they are done, next to memory: what a word becomes, and which hart has reserved one.
// A reservation is of one word and ends with the next SC of its hart or with any write to that word, by any hart.
module atomic_unit
  import rv_pkg::*;
#(
    parameter int unsigned Harts = 1,
    localparam int unsigned HartBits = Harts > 1 ? $clog2(Harts) : 1
) (
    input  logic                clk_i,
    input  logic                rst_i,
    // an operation, done at the end of the cycle
    input  logic                valid_i,
    input  logic [HartBits-1:0] hart_i,
    input  atomic_t             atomic_i,
    input  logic [31:0]         old_i,
    output logic [31:0]         result_o,
    output logic                write_o,
    output logic [31:0]         data_o,
    // a store, done at the end of the cycle
    input  logic                store_i,
    input  logic [31:0]         store_addr_i
);
  typedef logic [HartBits-1:0] hart_t;
  logic [Harts-1:0] reserved;
  logic [31:0]      reservation [Harts];

  logic holds;  // the reservation that SC needs
  assign holds = reserved[hart_i] && reservation[hart_i] == atomic_i.addr;

  logic is_signed, less;
  assign is_signed = atomic_i.op == ATOMIC_MIN || atomic_i.op == ATOMIC_MAX;
  assign less = is_signed ? $signed(old_i) < $signed(atomic_i.data) : old_i < atomic_i.data;

  always_comb begin
    write_o  = valid_i;
    result_o = old_i;
    data_o   = atomic_i.data;
    unique case (atomic_i.op)
      ATOMIC_LR: write_o = 1'b0;
      ATOMIC_SC: begin
        write_o  = valid_i && holds;
        result_o = {31'd0, !holds};
      end
      ATOMIC_ADD:              data_o = old_i + atomic_i.data;
      ATOMIC_XOR:              data_o = old_i ^ atomic_i.data;
      ATOMIC_OR:               data_o = old_i | atomic_i.data;
      ATOMIC_AND:              data_o = old_i & atomic_i.data;
      ATOMIC_MIN, ATOMIC_MINU: data_o = less ? old_i : atomic_i.data;
      ATOMIC_MAX, ATOMIC_MAXU: data_o = less ? atomic_i.data : old_i;
      default: ;  // swap
    endcase
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned h = 0; h < Harts; h++) begin
      if (rst_i) begin
        reserved[h] <= 1'b0;
      end else if (valid_i && hart_i == hart_t'(h) && atomic_i.op == ATOMIC_LR) begin
        reserved[h]    <= 1'b1;
        reservation[h] <= atomic_i.addr;
      end else if ((valid_i && hart_i == hart_t'(h) && atomic_i.op == ATOMIC_SC)
                   || (write_o && reservation[h] == atomic_i.addr)
                   || (store_i && reservation[h] == store_addr_i)) begin
        reserved[h] <= 1'b0;
      end
    end
  end
endmodule
