// Two cores that make up their work, each traced by the helper for the cpu protocol into a separate file: up to two
// instructions are fetched per cycle, the oldest retires when it has been executed, every now and then a branch turns
// out mispredicted, and the whole core is reset twice.
module core #(
    parameter int Core = 0
) (
    input logic clk_i,
    input logic rst_i,
    input longint unsigned time_i
);
  import uscope_pkg::*;
  import uscope_cpu_pkg::*;

  chandle w, cpu;
  int rob, done, committed, cycles;
  int unsigned fetch, execute, retire, mispredict, rob_full, raw;

  // The ROB of the model itself: ids by slot, head and number.
  int unsigned ids[6];
  int unsigned ages[6];
  int head, count;
  longint unsigned pc;
  int unsigned random;
  int retired, squashed, born, stalls;

  initial begin
    pc = 64'h8000_0000;
    random = 32'(Core) + 1;
    w = uscope_open_checked($sformatf("core%0d", Core), "", "", $sformatf("core=%0d", Core));
    cpu = uscope_cpu_new(w, $sformatf("core%0d", Core));
    rob = uscope_cpu_buffer(cpu, "rob");
    done = uscope_cpu_buffer_field(cpu, rob, "done");
    committed = uscope_cpu_counter(cpu, "committed_insns");
    cycles = uscope_cpu_counter(cpu, "cycles");
    fetch = 32'(uscope_cpu_stage_id(cpu, "fetch"));
    execute = 32'(uscope_cpu_stage_id(cpu, "execute"));
    retire = 32'(uscope_cpu_stage_id(cpu, "retire"));
    mispredict = 32'(uscope_cpu_flush_id(cpu, "mispredict"));
    rob_full = 32'(uscope_cpu_stall_id(cpu, "rob_full"));
    raw = 32'(uscope_cpu_dependency_id(cpu, "raw"));
  end

  // This is a model, not hardware: one process does everything, statement by statement.
  /* verilator lint_off BLKSEQ */
  function automatic int slot_of(input int n);
    return (head + n) % 6;
  endfunction

  task automatic fetch_one();
    int unsigned id;
    int slot;
    if (count == 6) begin
      uscope_cpu_stall(cpu, rob_full);
      stalls++;
      return;
    end
    id = uscope_cpu_fetch(cpu, pc, 32'h13);
    slot = uscope_cpu_push(cpu, rob, id);
    if (slot != slot_of(count)) $display("core %0d: slot %0d, expected %0d", Core, slot, slot_of(count));
    uscope_cpu_stage(cpu, id, fetch);
    uscope_cpu_annotate(cpu, id, $sformatf("0x%0h: nop", pc));
    if (count > 0) uscope_cpu_dependency(cpu, ids[slot_of(count-1)], id, raw);
    ids[slot] = id;
    ages[slot] = 0;
    count++;
    born++;
    pc += 4;
  endtask

  task automatic retire_oldest();
    if (count == 0 || ages[head] < 3) return;
    if (uscope_cpu_pop(cpu, rob) != ids[head]) $display("core %0d: pop gave another", Core);
    uscope_cpu_retire(cpu, ids[head]);
    uscope_cpu_count(cpu, committed, 64'd1);
    head = slot_of(1);
    count--;
    retired++;
  endtask

  task automatic execute_all();
    for (int i = 0; i < count; i++) begin
      automatic int slot = slot_of(i);
      ages[slot]++;
      if (ages[slot] == 1) uscope_cpu_stage(cpu, ids[slot], execute);
      if (ages[slot] == 2) begin
        uscope_cpu_stage(cpu, ids[slot], retire);
        uscope_cpu_buffer_set(cpu, rob, slot, done, 64'd1);
      end
    end
  endtask

  // All younger than the oldest in flight are wrong.
  task automatic squash();
    if (count > 1) begin
      squashed += int'(uscope_cpu_flush_younger(cpu, ids[head], mispredict));
      count = 1;
      pc = 64'h8000_0000 + 64'(random[15:0]) * 4;
    end
  endtask

  // `+control`: core 0 is left out for 500 cycles, and a moment later is marked.
  bit controls = Core == 0 && $test$plusargs("control") != 0;
  function automatic void control();
    if (time_i == 1_500_000) uscope_disable(w, "core0");
    if (time_i == 2_000_000) uscope_enable(w, "core0");
    if (time_i == 2_500_000) uscope_trigger(w, "half way");
  endfunction

  always @(posedge clk_i) begin
    random = random * 32'd1664525 + 32'd1013904223;
    uscope_begin_cycle(w, time_i);
    if (controls) control();
    if (rst_i) begin
      squashed += int'(uscope_cpu_in_flight(cpu));
      uscope_cpu_reset(cpu);
      head = 0;
      count = 0;
      pc = 64'h8000_0000;
    end else begin
      retire_oldest();
      execute_all();
      if (random[31:28] == 0) squash();
      else for (int i = 0; i < int'(random[20]) + 1; i++) fetch_one();
    end
    uscope_cpu_count(cpu, cycles, 64'd1);
    uscope_end_cycle(w);
  end
  final begin
    $display("core %0d born %0d retired %0d squashed %0d stalls %0d in_flight %0d rejected %0d", Core, born, retired,
             squashed, stalls, uscope_cpu_in_flight(cpu), uscope_rejected(w));
    if (controls) $display("core %0d skipped %0d", Core, uscope_skipped(w));
    uscope_close(w);
  end
endmodule

module top (
    input logic clk_i
);
  longint unsigned now;
  logic rst;
  initial rst = 1;
  always_ff @(negedge clk_i) begin
    now <= now + 1000;
    rst <= now < 3000 || (now > 700_000 && now < 703_000);
  end
  for (genvar i = 0; i < 2; i++) begin : g_core
    core #(
        .Core(i)
    ) u_core (
        .clk_i,
        .rst_i(rst),
        .time_i(now)
    );
  end
endmodule
