// PicoRV32's trace port as its own test bench writes it (for showtrace.py), to compare the cost: +own=FILE.
module picorv32_own_tracer (
    input logic        clk,
    input logic        trace_valid,
    input logic [35:0] trace_data
);
  int    file;
  string name;
  initial if ($value$plusargs("own=%s", name)) file = $fopen(name, "w");
  always @(posedge clk) if (file != 0 && trace_valid) $fwrite(file, "%x\n", trace_data);
endmodule

bind picorv32 picorv32_own_tracer u_own_tracer (.*);
