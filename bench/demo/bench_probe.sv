// Bound into the demo's top module, BENCH_TOP, by `npm run bench -- demo`: samples the clocks of the machine now and then, and, with
// BENCH_WAVE defined, dumps the waveform. The demo itself knows nothing of it.
module bench_probe (
    input logic clk_i
);
  import "DPI-C" function void bench_sample(input longint unsigned cycle);
  import "DPI-C" function void bench_report();

  // Reading the machine's clocks takes about as long as a cycle, so not every cycle does it. The first one does not,
  // because the trace is opened after it, in reset.
  longint unsigned cycle;
  always_ff @(posedge clk_i) begin
    cycle <= cycle + 64'd1;
    if (cycle[9:0] == 10'd1023) bench_sample(cycle);
  end
  final bench_report();

`ifdef BENCH_WAVE
  import "DPI-C" function string bench_wave_path();
  import "DPI-C" function void bench_half_period();

  // A dump needs time that passes, which the demo's harness does without.
  initial begin
    $dumpfile(bench_wave_path());
    $dumpvars;
  end
  always @(clk_i) bench_half_period();
`endif
endmodule

`ifndef BENCH_TOP
`define BENCH_TOP top
`endif
bind `BENCH_TOP bench_probe u_bench_probe (.clk_i);
