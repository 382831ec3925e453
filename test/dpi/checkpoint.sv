// Two cores with a register file each, traced into two files. The registers are not recorded as they change: what a
// trace knows of them comes from its checkpoints. The model prints them at the same instants.
module register_file (
    input logic clk_i,
    input logic [31:0] seed_i
);
  logic [31:0] regs[8];
  bit [31:0] count;
  always_ff @(posedge clk_i) begin
    count <= count + 1;
    regs[count[2:0]] <= seed_i * 32'd1000003 + count * 32'd77;
  end
  initial for (int i = 0; i < 8; i++) regs[i] = 0;
endmodule

module core #(
    parameter int Core = 0,
    parameter bit Asks = 0
) (
    input logic clk_i,
    input longint unsigned time_i
);
  import uscope_pkg::*;
  `include "uscope_checkpoint.svh"

  chandle w;
  shortint unsigned st_regs, st_queue, st_cycles;
  logic [31:0] entries[4];
  bit [31:0] pushed;

  register_file u_regs (
      .clk_i,
      .seed_i(32'(Core) + 1)
  );

  // A queue whose slots are valid while their entry is odd.
  always_ff @(posedge clk_i) begin
    pushed <= pushed + 1;
    entries[pushed[1:0]] <= pushed * 32'd7 + 32'(Core);
  end
  initial for (int i = 0; i < 4; i++) entries[i] = 0;

  function automatic void send(input chandle trace);
    uscope_checkpoint_begin(trace, st_regs);
    for (int i = 0; i < 8; i++) uscope_checkpoint_slot1(trace, 16'(i), 64'(u_regs.regs[i]));
    uscope_checkpoint_end(trace);
    uscope_checkpoint_begin(trace, st_queue);
    for (int i = 0; i < 4; i++)
      if (entries[i][0]) uscope_checkpoint_slot2(trace, 16'(i), 64'(i), 64'(entries[i]));
    uscope_checkpoint_end(trace);
    $write("asked %0d %0d", Core, time_i);
    for (int i = 0; i < 8; i++) $write(" %0d", u_regs.regs[i]);
    for (int i = 0; i < 4; i++) $write(" %0d", entries[i][0] ? entries[i] : 32'd0);
    $write("\n");
  endfunction

  function automatic void uscope_checkpoint(input chandle trace);
    send(trace);
  endfunction

  initial begin
    w = uscope_open($sformatf("core%0d", Core));
    st_regs = 16'(uscope_storage_id(w, "core/regs"));
    st_queue = 16'(uscope_storage_id(w, "core/queue"));
    st_cycles = 16'(uscope_storage_id(w, "core/cycles"));
    if (!Asks) uscope_checkpoint_enable(w);
  end

  always @(posedge clk_i) begin
    if (Asks) if (uscope_checkpoint_due(w, time_i) != 0) send(w);
    uscope_begin_cycle(w, time_i);
    uscope_slot_add(w, st_cycles, 16'd0, 16'd0, 64'd1);
    uscope_end_cycle(w);
    // what the design holds at this edge, said by the process that reads it in the ordinary way
    if (time_i % 100_000 == 0 && time_i != 0) begin
      $write("held %0d %0d", Core, time_i);
      for (int i = 0; i < 8; i++) $write(" %0d", u_regs.regs[i]);
      for (int i = 0; i < 4; i++) $write(" %0d", entries[i][0] ? entries[i] : 32'd0);
      $write("\n");
    end
  end

  final begin
    $display("rejected %0d %s", uscope_rejected(w), uscope_last_error_message());
    uscope_close(w);
  end
endmodule

module top (
    input logic clk_i
);
  longint unsigned now;
  always_ff @(negedge clk_i) now <= now + 1000;
  for (genvar i = 0; i < 3; i++) begin : g_core
    core #(
        .Core(i),
        .Asks(i == 2)
    ) u_core (
        .clk_i,
        .time_i(now)
    );
  end
endmodule
