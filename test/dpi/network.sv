// Every call of the helper for the noc protocol, from SystemVerilog: requests cross a link and are handed to a second scope.
module top (
    input logic clk_i
);
  import uscope_pkg::*;
  import uscope_noc_pkg::*;

  chandle w, mesh, router;
  int link, slot;
  longint unsigned now;
  int unsigned id, far, sent, lost;

  initial begin
    w = uscope_open("noc");
    mesh = uscope_noc_new(w, "mesh");
    router = uscope_noc_new(w, "mesh/router");
    link = uscope_noc_buffer(mesh, "link");
    sent = 32'(uscope_noc_stage_id(mesh, "sent"));
    lost = USCOPE_NOC_NONE;
  end

  /* verilator lint_off BLKSEQ */
  always @(posedge clk_i) begin
    uscope_begin_cycle(w, now);
    if (now % 4000 == 0) begin
      id = uscope_noc_begin(mesh, 1, 64'h1000 + now, 4, 3, 0, 5);
      slot = uscope_noc_push(mesh, link, id);
      uscope_noc_stage(mesh, id, sent);
      uscope_noc_annotate(mesh, id, "read");
      uscope_noc_credit(mesh, 0, 3);
    end else if (now % 4000 == 1000) begin
      uscope_noc_beat(mesh, id, 0);
      uscope_noc_retry(mesh, id, 1);
      uscope_noc_timeout(mesh, id);
    end else if (now % 4000 == 2000) begin
      far = uscope_noc_begin(router, 1, 64'h1000 + now, 4, 3, 0, 5);
      uscope_noc_arbitrate(router, far, 2);
      uscope_noc_handoff(mesh, id, router, far);
      if (now % 8000 == 2000) uscope_noc_remove(mesh, link, slot);
      else if (uscope_noc_pop(mesh, link) != id) $display("pop gave another");
      uscope_noc_complete(mesh, id);
    end else if (now % 40_000 == 3000) begin
      uscope_noc_reset(router);
    end else begin
      uscope_noc_complete(router, far);
    end
    uscope_noc_complete(router, lost);
    uscope_end_cycle(w);
    now = now + 1000;
  end
  /* verilator lint_on BLKSEQ */

  final begin
    $display("rejected %0d in_flight %0d", uscope_rejected(w), uscope_noc_in_flight(mesh));
    uscope_close(w);
    uscope_noc_free(mesh);
    uscope_noc_free(router);
  end
endmodule
