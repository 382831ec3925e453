// The data cache, as far as its timing goes: tags of a set-associative cache that does not block. A miss takes a register
// (MSHR) which waits for the line; others for the same line wait with it. Loads and draining stores look up at the same
// time. One line is filled in a cycle.
module o3_dcache
  import o3_pkg::*;
#(
    parameter int unsigned Sets        = 16,
    parameter int unsigned Ways        = 2,
    parameter int unsigned LineBytes   = 32,
    parameter int unsigned Mshrs       = 4,
    parameter int unsigned MissPenalty = 12
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        req_i [2],   // load, store
    input  logic [31:0] addr_i [2],
    output logic        hit_o [2],
    output logic        filled_o,    // a line comes; who waits should try again
    // for counters and observers
    output logic [Mshrs-1:0] mshr_taken_o,  // by a miss in this cycle
    output logic [Mshrs-1:0] mshr_freed_o,
    output logic [31:0] taken_addr_o [Mshrs]
);
  localparam int unsigned OffsetBits = $clog2(LineBytes);
  localparam int unsigned IndexBits  = $clog2(Sets);
  localparam int unsigned WayBits    = (Ways > 1) ? $clog2(Ways) : 1;
  initial begin
    if (Sets < 2 || 2 ** IndexBits != Sets) $fatal(1, "Sets must be a power of two, at least 2");
    if (LineBytes < 4 || 2 ** OffsetBits != LineBytes) $fatal(1, "LineBytes must be a power of two, at least 4");
    if (Ways < 1 || Mshrs < 1 || Mshrs > 16) $fatal(1, "Ways must be at least 1, Mshrs 1 to 16");
    if (MissPenalty < 2) $fatal(1, "MissPenalty must be at least 2");
  end
  typedef logic [31-OffsetBits:0] line_t;
  typedef logic [IndexBits-1:0]   index_t;
  typedef logic [WayBits-1:0]     way_t;

  line_t                     lines [Sets][Ways];
  logic [Sets-1:0][Ways-1:0] present;
  way_t [Sets-1:0]           newest;

  function automatic index_t index_of(input line_t line);
    return line[IndexBits-1:0];
  endfunction

  line_t line [2];
  way_t  way [2];
  always_comb begin
    for (int unsigned p = 0; p < 2; p++) begin
      line[p]  = addr_i[p][31:OffsetBits];
      hit_o[p] = 1'b0;
      way[p]   = '0;
      for (int unsigned w = 0; w < Ways; w++) begin
        if (req_i[p] && present[index_of(line[p])][w] && lines[index_of(line[p])][w] == line[p]) begin
          hit_o[p] = 1'b1;
          way[p]   = way_t'(w);
        end
      end
    end
  end

  // ---- misses
  logic [Mshrs-1:0] busy, taken;
  line_t            wanted [Mshrs], taken_line [Mshrs];
  logic [15:0]      remaining [Mshrs];
  always_comb begin
    logic waits;
    taken      = '0;
    taken_line = '{default: '0};
    for (int unsigned p = 0; p < 2; p++) begin
      waits = !req_i[p] || hit_o[p];
      for (int unsigned m = 0; m < Mshrs; m++) begin
        if (busy[m] && wanted[m] == line[p]) waits = 1'b1;
        if (taken[m] && taken_line[m] == line[p]) waits = 1'b1;
      end
      for (int unsigned m = 0; m < Mshrs; m++) begin
        if (!waits && !busy[m] && !taken[m]) begin
          taken[m]      = 1'b1;
          taken_line[m] = line[p];
          waits         = 1'b1;
        end
      end
    end
  end

  // ---- fills
  logic [Mshrs-1:0] freed;
  line_t            fill;
  index_t           fill_index;
  way_t             victim;
  always_comb begin
    freed = '0;
    fill  = '0;
    for (int unsigned m = 0; m < Mshrs; m++) begin
      if (busy[m] && remaining[m] == 16'd0 && freed == '0) begin
        freed[m] = 1'b1;
        fill     = wanted[m];
      end
    end
    fill_index = index_of(fill);
    victim     = (32'(newest[fill_index]) == Ways - 1) ? '0 : newest[fill_index] + way_t'(1);
  end
  assign filled_o = freed != '0;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      busy    <= '0;
      present <= '0;
      newest  <= '0;
    end else begin
      for (int unsigned p = 0; p < 2; p++) if (hit_o[p]) newest[index_of(line[p])] <= way[p];
      if (filled_o) begin
        lines[fill_index][victim]   <= fill;
        present[fill_index][victim] <= 1'b1;
        newest[fill_index]          <= victim;
      end
      busy <= (busy | taken) & ~freed;
      for (int unsigned m = 0; m < Mshrs; m++) begin
        if (taken[m]) begin
          wanted[m]    <= taken_line[m];
          remaining[m] <= 16'(MissPenalty - 2);  // the miss and the fill take a cycle each
        end else if (busy[m] && remaining[m] != 16'd0) begin
          remaining[m] <= remaining[m] - 16'd1;
        end
      end
    end
  end

  assign mshr_taken_o = taken;
  assign mshr_freed_o = freed;
  always_comb begin
    for (int unsigned m = 0; m < Mshrs; m++) begin
      taken_addr_o[m] = {taken_line[m], {OffsetBits{1'b0}}};
    end
  end
endmodule
