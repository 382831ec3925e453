// common/memory.sv for AXI with beats of 64 bits: one burst at a time, reads before writes. Without the timer.
module cva6_memory (
    input  logic              clk,
    input  logic              rst,
    input  ariane_axi::req_t  request,
    output ariane_axi::resp_t response,
    output logic              done,
    output logic [31:0]       result
);
  logic [31:0] ram [16384];
  string image;
  initial begin
    if (!$value$plusargs("program=%s", image)) $fatal(1, "no program: give +program=FILE (words in hex)");
    $readmemh(image, ram);
  end

  typedef enum logic [1:0] {IDLE, READ, WRITE, ANSWER} state_t;
  state_t           state;
  logic [3:0]       id;
  logic [63:0]      addr;
  logic [7:0]       beats;  // after this one
  logic [31:0]      low, high;
  assign low  = ram[{addr[15:3], 1'b0}];
  assign high = ram[{addr[15:3], 1'b1}];
  always_comb begin
    response          = '0;
    response.ar_ready = state == IDLE;
    response.aw_ready = state == IDLE && !request.ar_valid;
    response.w_ready  = state == WRITE;
    response.r_valid  = state == READ;
    response.r.id     = id;
    response.r.data   = {high, low};
    response.r.last   = beats == 8'd0;
    response.b_valid  = state == ANSWER;
    response.b.id     = id;
  end
  always_ff @(posedge clk) begin
    case (state)
      IDLE:
        if (request.ar_valid) begin
          state <= READ;
          {id, addr, beats} <= {request.ar.id, request.ar.addr, request.ar.len};
        end else if (request.aw_valid) begin
          state <= WRITE;
          {id, addr, beats} <= {request.aw.id, request.aw.addr, request.aw.len};
        end
      READ:
        if (request.r_ready) begin
          addr  <= addr + 64'd8;
          beats <= beats - 8'd1;
          if (beats == 8'd0) state <= IDLE;
        end
      WRITE:
        if (request.w_valid) begin
          for (int i = 0; i < 4; i++) begin
            if (!addr[28] && request.w.strb[i]) ram[{addr[15:3], 1'b0}][8*i +: 8] <= request.w.data[8*i +: 8];
            if (!addr[28] && request.w.strb[4+i]) ram[{addr[15:3], 1'b1}][8*i +: 8] <= request.w.data[32+8*i +: 8];
          end
          if (addr[28] && request.w.strb[0]) begin
            done   <= 1'b1;
            result <= request.w.data[31:0];
          end
          addr <= addr + 64'd8;
          if (request.w.last) state <= ANSWER;
        end
      default: if (request.b_ready) state <= IDLE;
    endcase
    if (rst) begin
      state <= IDLE;
      done  <= 1'b0;
    end
  end
endmodule
