// Tags of a set-associative cache: a model of its timing, the data being at hand in memory. One line is filled at a
// time; accesses that hit go on meanwhile. An access that misses is repeated until it hits; when nobody repeats it the
// fill goes on all the same.
module cache_tags #(
    parameter int unsigned Sets        = 32,
    parameter int unsigned Ways        = 2,
    parameter int unsigned LineBytes   = 32,
    parameter int unsigned MissPenalty = 12  // cycles that an access waits for its line
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        req_i,
    input  logic [31:0] addr_i,
    output logic        hit_o,
    output logic        miss_o  // a fill begins in this cycle
);
  localparam int unsigned OffsetBits = $clog2(LineBytes);
  localparam int unsigned IndexBits  = $clog2(Sets);
  localparam int unsigned TagBits    = 32 - OffsetBits - IndexBits;
  localparam int unsigned WayBits    = (Ways > 1) ? $clog2(Ways) : 1;
  initial begin
    if (Sets < 2 || 2 ** IndexBits != Sets) $fatal(1, "Sets must be a power of two, at least 2");
    if (LineBytes < 4 || 2 ** OffsetBits != LineBytes) $fatal(1, "LineBytes must be a power of two, at least 4");
    if (Ways < 1 || MissPenalty < 2) $fatal(1, "Ways must be at least 1, MissPenalty at least 2");
  end

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [TagBits-1:0]   tag_t;
  typedef logic [WayBits-1:0]   way_t;

  tag_t                      tags [Sets][Ways];
  logic [Sets-1:0][Ways-1:0] filled;
  way_t [Sets-1:0]           newest;  // the way used last

  index_t index, fill_index;
  tag_t   tag, fill_tag;
  way_t   hit_way;
  assign index = addr_i[OffsetBits+:IndexBits];
  assign tag   = addr_i[31-:TagBits];

  always_comb begin
    hit_o   = 1'b0;
    hit_way = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (req_i && filled[index][w] && tags[index][w] == tag) begin
        hit_o   = 1'b1;
        hit_way = way_t'(w);
      end
    end
  end

  logic [15:0] remaining;  // cycles until the line being filled is there; 0: none is
  assign miss_o = req_i && !hit_o && remaining == 16'd0;

  // Where a new line goes: the way after the one used last, which with two ways is the least recently used.
  way_t victim;
  assign victim = (32'(newest[fill_index]) == Ways - 1) ? '0 : newest[fill_index] + way_t'(1);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      remaining  <= 16'd0;
      fill_index <= '0;
      fill_tag   <= '0;
      filled     <= '0;
      newest     <= '0;
    end else begin
      if (hit_o) newest[index] <= hit_way;
      if (miss_o) begin
        remaining  <= 16'(MissPenalty - 1);  // the first of them is this one
        fill_index <= index;
        fill_tag   <= tag;
      end else if (remaining != 16'd0) begin
        remaining <= remaining - 16'd1;
      end
      if (remaining == 16'd1) begin
        tags[fill_index][victim]   <= fill_tag;
        filled[fill_index][victim] <= 1'b1;
        newest[fill_index]         <= victim;
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, addr_i[OffsetBits-1:0]};
endmodule
