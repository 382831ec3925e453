module waves;
  initial begin
    $dumpfile("core.vcd");
    $dumpvars;
  end
endmodule

bind core waves u_waves ();
