// One hart's port to the interconnect: what its caches, its store buffer and its atomic operations want from memory, one
// request at a time. A request that is not taken stays as it is until it is taken.
module bus_master
  import rv_pkg::*;
  import bus_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
    // wanted, each until it is done
    input  logic         ifill_valid_i,
    input  logic [31:0]  ifill_addr_i,
    input  logic         dfill_valid_i,
    input  logic [31:0]  dfill_addr_i,
    input  logic         store_valid_i,
    input  store_t       store_i,
    input  logic         atomic_valid_i,
    input  atomic_t      atomic_i,
    input  logic [NumKinds-1:0] done_i,  // by kind
    // to the interconnect
    output logic         valid_o,
    output bus_request_t request_o,
    input  logic         ready_i
);
  logic [NumKinds-1:0] wanted, sent;
  assign wanted = {atomic_valid_i, store_valid_i, dfill_valid_i, ifill_valid_i} & ~sent;

  // What the pipeline waits for comes first.
  logic      waiting;
  bus_kind_e kind, pick, kept;
  always_comb begin
    if (wanted[BUS_ATOMIC]) pick = BUS_ATOMIC;
    else if (wanted[BUS_DFILL]) pick = BUS_DFILL;
    else if (wanted[BUS_IFILL]) pick = BUS_IFILL;
    else pick = BUS_WRITE;
    kind = waiting ? kept : pick;
  end
  assign valid_o = wanted[kind];

  always_comb begin
    request_o = '{kind: kind, addr: store_i.addr, strobe: store_i.strobe, data: store_i.data, op: atomic_i.op};
    unique case (kind)
      BUS_IFILL: request_o.addr = ifill_addr_i;
      BUS_DFILL: request_o.addr = dfill_addr_i;
      BUS_ATOMIC: begin
        request_o.addr = atomic_i.addr;
        request_o.data = atomic_i.data;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      sent    <= '0;
      waiting <= 1'b0;
      kept    <= BUS_WRITE;
    end else begin
      waiting <= valid_o && !ready_i;
      kept    <= kind;
      for (int unsigned k = 0; k < NumKinds; k++) begin
        if (done_i[k]) sent[k] <= 1'b0;
        else if (valid_o && ready_i && kind == bus_kind_e'(k)) sent[k] <= 1'b1;
      end
    end
  end
endmodule
