// Tags of a set-associative cache: a model of its timing, the data being at hand in memory. One line is filled at a
// time; accesses that hit continue meanwhile. An access that misses is repeated until it hits; when nobody repeats it the
// fill continues all the same. A write to a line in memory without this cache drops the line here in the same cycle.
module cache_tags #(
    parameter int unsigned Sets        = 32,
    parameter int unsigned Ways        = 2,
    parameter int unsigned LineBytes   = 32
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        req_i,
    input  logic [31:0] addr_i,
    output logic        hit_o,
    output logic        miss_o,      // a fill begins in this cycle
    output logic        filling_o,   // from the next cycle on, until the line has come
    output logic [31:0] fill_addr_o,
    input  logic        filled_i,    // the line comes
    input  logic        drop_i,      // a line is no longer what memory holds
    input  logic [31:0] drop_addr_i,
    output logic        dropped_o    // it was here
);
  localparam int unsigned OffsetBits = $clog2(LineBytes);
  localparam int unsigned IndexBits  = $clog2(Sets);
  localparam int unsigned TagBits    = 32 - OffsetBits - IndexBits;
  localparam int unsigned WayBits    = (Ways > 1) ? $clog2(Ways) : 1;
  initial begin
    if (Sets < 2 || 2 ** IndexBits != Sets) $fatal(1, "Sets must be a power of two, at least 2");
    if (LineBytes < 4 || 2 ** OffsetBits != LineBytes) $fatal(1, "LineBytes must be a power of two, at least 4");
    if (Ways < 1) $fatal(1, "Ways must be at least 1");
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

  logic filling;
  assign miss_o      = req_i && !hit_o && !filling;
  assign filling_o   = filling;
  assign fill_addr_o = {fill_tag, fill_index, {OffsetBits{1'b0}}};

  index_t drop_index;
  tag_t   drop_tag;
  logic   drops_fill;
  always_comb begin
    dropped_o = 1'b0;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (drop_i && filled[drop_index][w] && tags[drop_index][w] == drop_tag) dropped_o = 1'b1;
    end
  end
  assign drop_index = drop_addr_i[OffsetBits+:IndexBits];
  assign drop_tag   = drop_addr_i[31-:TagBits];
  assign drops_fill = drop_i && drop_index == fill_index && drop_tag == fill_tag;

  // Where a new line goes: the way after the one used last, which with two ways is the least recently used.
  way_t victim;
  assign victim = (32'(newest[fill_index]) == Ways - 1) ? '0 : newest[fill_index] + way_t'(1);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      filling    <= 1'b0;
      fill_index <= '0;
      fill_tag   <= '0;
      filled     <= '0;
      newest     <= '0;
    end else begin
      if (hit_o) newest[index] <= hit_way;
      if (miss_o) begin
        filling    <= 1'b1;
        fill_index <= index;
        fill_tag   <= tag;
      end else if (filled_i) begin
        filling <= 1'b0;
      end
      if (filling && filled_i) begin
        tags[fill_index][victim]   <= fill_tag;
        filled[fill_index][victim] <= !drops_fill;
        newest[fill_index]         <= victim;
      end
      for (int unsigned w = 0; w < Ways; w++) begin
        if (drop_i && tags[drop_index][w] == drop_tag
            && !(filling && filled_i && drop_index == fill_index && way_t'(w) == victim)) begin
          filled[drop_index][w] <= 1'b0;
        end
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, addr_i[OffsetBits-1:0], drop_addr_i[OffsetBits-1:0]};
endmodule
