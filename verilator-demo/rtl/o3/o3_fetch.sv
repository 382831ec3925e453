// Fetches two words in a cycle, as far as they are in one cache line and the first one does not go elsewhere, into the
// fetch buffer, from which the decoders take them.
module o3_fetch
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter logic [31:0] ResetVector   = 32'h8000_0000,
    parameter int unsigned BranchEntries = 1024,
    parameter int unsigned HistoryBits   = 8,
    parameter int unsigned TargetEntries = 64,
    parameter int unsigned ReturnDepth   = 8,
    parameter int unsigned CacheSets     = 32,
    parameter int unsigned CacheWays     = 2,
    parameter int unsigned LineBytes     = 32,
    parameter int unsigned BufferEntries = 8
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        halt_i,
    input  redirect_t   redirect_i,
    input  training_t   train_i,
    // instruction memory, answered within the cycle
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i [Width],  // two words, the first of them addressed
    input  logic        imem_fault_i,
    output logic        fill_miss_o,
    input  logic        fill_done_i,
    output logic        waits_o,              // for the cache
    // to the decoders: the oldest two, of which they take some
    output fetched_t    head_o [Width],
    input  count_t      take_i,
    // what enters the buffer, and where
    output count_t      pushed_o,
    output fetched_t    fetched_o [Width],
    output logic [7:0]  buffer_head_o,
    output logic [7:0]  buffer_tail_o,
    output logic [7:0]  buffer_count_o
);
  localparam int unsigned PointerBits = $clog2(BufferEntries);
  initial if (BufferEntries < 4 || BufferEntries > 128 || 2 ** PointerBits != BufferEntries) begin
    $fatal(1, "the fetch buffer must have a power of two of entries, 4 to 128");
  end
  typedef logic [PointerBits-1:0] pointer_t;

  logic [31:0] pc, next;
  logic        pair, first_ends, room, hit, lookup, advance;
  logic [31:0] predicted [Width];
  return_top_t return_top [Width];
  history_t    history [Width];

  always_ff @(posedge clk_i) begin
    if (rst_i) pc <= ResetVector;
    else if (redirect_i.valid) pc <= redirect_i.target;
    else if (advance) pc <= next;
  end
  assign imem_addr_o = pc;
  assign pair        = (pc & (LineBytes - 4)) != LineBytes - 4;  // the word after it is in the same line

  o3_predictor #(
      .BranchEntries(BranchEntries), .HistoryBits(HistoryBits), .TargetEntries(TargetEntries), .ReturnDepth(ReturnDepth)
  ) u_predictor (
      .clk_i, .rst_i,
      .pc_i(pc), .inst_i(imem_data_i), .pair_i(pair), .advance_i(advance),
      .next_o(next), .first_ends_o(first_ends),
      .predicted_o(predicted), .return_top_o(return_top), .history_o(history),
      .redirect_i, .train_i
  );

  logic filling, dropped;
  logic [31:0] fill_addr;
  assign lookup = !halt_i && !imem_fault_i;
  cache_tags #(.Sets(CacheSets), .Ways(CacheWays), .LineBytes(LineBytes)) u_icache (
      .clk_i, .rst_i, .req_i(lookup), .addr_i(pc), .hit_o(hit), .miss_o(fill_miss_o),
      .filling_o(filling), .fill_addr_o(fill_addr), .filled_i(fill_done_i), .drop_i(1'b0), .drop_addr_i(32'd0),
      .dropped_o(dropped)
  );
  assign waits_o = lookup && !hit;
  assign advance = !halt_i && room && (hit || imem_fault_i) && !redirect_i.valid;

  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      fetched_o[i] = '{
          valid: 1'b1, pc: pc + 32'(4 * i), inst: imem_data_i[i], predicted: predicted[i], return_top: return_top[i],
          history: history[i], exc: imem_fault_i ? exception(CAUSE_FETCH_FAULT, pc + 32'(4 * i)) : NoException
      };
    end
    pushed_o = !advance ? 2'd0 : (pair && !first_ends ? 2'd2 : 2'd1);
  end

  // ---- fetch buffer
  fetched_t   entries [BufferEntries];
  pointer_t   head, tail;
  logic [7:0] count;
  assign room           = 32'(count) + Width <= BufferEntries;
  assign buffer_head_o  = 8'(head);
  assign buffer_tail_o  = 8'(tail);
  assign buffer_count_o = count;
  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      head_o[i]       = entries[head + pointer_t'(i)];
      head_o[i].valid = 32'(count) > i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || redirect_i.valid) begin
      head  <= '0;
      tail  <= '0;
      count <= 8'd0;
    end else begin
      for (int unsigned i = 0; i < Width; i++) begin
        if (32'(pushed_o) > i) entries[tail + pointer_t'(i)] <= fetched_o[i];
      end
      tail  <= tail + pointer_t'(pushed_o);
      head  <= head + pointer_t'(take_i);
      count <= count + 8'(pushed_o) - 8'(take_i);
    end
  end
endmodule
