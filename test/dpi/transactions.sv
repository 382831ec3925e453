// A bus whose requests overlap, recorded as transactions: phases related to the request, attributes of every type.
module top (
    input logic clk_i
);
  import uscope_pkg::*;
  import uscope_tr_pkg::*;

  chandle w;
  uscope_tr tr;
  longint unsigned now;
  longint unsigned count;
  bit [31:0] bus, phases;
  tr_generator_t read_gen, phase_gen;
  tr_tx_t current, former, phase;

  initial begin
    w  = uscope_open("bus");
    tr = new(w, "tr");
  end

  /* verilator lint_off BLKSEQ */
  always @(posedge clk_i) begin
    uscope_begin_cycle(w, now);
    if (now == 0) begin
      bus      = tr.stream("top.bus", "transactor");
      read_gen = tr.generator(bus, "read");
    end
    if (now == 3000) begin
      // Streams and generators may come late.
      phases    = tr.stream("top.phases", "transactor");
      phase_gen = tr.generator(phases, "addr");
    end
    if (now % 2000 == 0 && now >= 4000) begin
      former  = current;
      current = tr.begin_tx(read_gen, now);
      tr.record(current, "addr", 64'hFFFF_FFFF_0000_0000 + now, TR_BEGIN);
      tr.record_bool(current, "burst", count[0], TR_BEGIN);
      phase = tr.begin_tx(phase_gen, now);
      tr.relate("addr_phase", current, phase);
      if (former != TR_NONE) tr.relate("next", former, current);
      tr.record_int(current, "offset", -$signed(count));
      tr.record_real(current, "load", real'(count) * 0.25);
      tr.record_enum(current, "state", count[1] ? "SHARED" : "OWNED");
      tr.record_bits(current, "strobe", $sformatf("%b", count[3:0]));
      tr.record_logic(current, "data", "01xz");
      tr.record_pointer(current, "buffer", 64'h7fff_0000 + count);
      count = count + 1;
    end else if (now >= 4000) begin
      tr.end_tx(phase, now);
      if (former != TR_NONE) begin
        tr.record_string(former, "result", count[0] ? "ok" : "", TR_END);
        tr.record_time(former, "took", 3000, TR_END);
        tr.end_tx(former, now);
      end
    end
    uscope_end_cycle(w);
    now = now + 1000;
  end
  /* verilator lint_on BLKSEQ */

  final begin
    $display("requests %0d rejected %0d", count, uscope_rejected(w));
    uscope_close(w);
  end
endmodule
