// Harts on one side, one memory on the other. Each hart has a queue; a round-robin arbiter picks the next request for
// memory, which serves one at a time. What memory does is visible at the end of the cycle in which it is performed: that is
// the order in which all harts see stores and atomic operations. A store is done for its hart in that very cycle; lines and
// results of atomic operations take a cycle more.
module memory_bus
  import rv_pkg::*;
  import bus_pkg::*;
#(
    parameter int unsigned Ports        = 4,
    parameter int unsigned QueueDepth   = 2,
    parameter int unsigned LineBytes    = 32,
    parameter int unsigned AccessCycles = 4,  // before the first part of a line
    parameter int unsigned BeatBytes    = 8,
    parameter int unsigned WriteCycles  = 2,
    parameter int unsigned AtomicCycles = 4,
    localparam int unsigned PortBits    = Ports > 1 ? $clog2(Ports) : 1
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         running_i,
    output logic         idle_o,
    // harts
    input  logic [Ports-1:0]    valid_i,
    output logic [Ports-1:0]    ready_o,
    input  bus_request_t        request_i [Ports],
    output logic [NumKinds-1:0] done_o [Ports],
    output logic [31:0]         result_o,          // of an atomic operation
    output logic [Ports-1:0]    drop_o,            // the line at drop_addr_o is no longer what memory holds
    output logic [31:0]         drop_addr_o,
    input  logic [Ports-1:0]    dropped_i,
    // memory
    output logic [31:0]         addr_o,
    input  logic [31:0]         rdata_i,
    output logic                write_o,
    output store_t              store_o,
    // counters and observers
    input  logic [PortBits-1:0] select_port_i,
    input  logic [3:0]          select_counter_i,
    output logic [63:0]         counter_o,
    noc_probe_if.bus   probe_o
);
  typedef logic [PortBits-1:0] port_t;
  localparam int unsigned Beats = LineBytes / BeatBytes;
  initial begin
    if (Beats < 1 || Beats > 16 || BeatBytes * Beats != LineBytes) $fatal(1, "LineBytes must be 1 to 16 times BeatBytes");
    // Shorter than two cycles, a write could overtake the response of a line.
    if (AccessCycles < 1 || WriteCycles < 2 || AtomicCycles < 2) $fatal(1, "memory needs at least two cycles");
  end

  // ---- queues
  logic [Ports-1:0] queued, pop;
  bus_request_t     first [Ports];
  for (genvar p = 0; p < Ports; p++) begin : g_queue
    bus_queue #(.Depth(QueueDepth)) u_queue (
        .clk_i, .rst_i,
        .valid_i(valid_i[p]), .ready_o(ready_o[p]), .request_i(request_i[p]),
        .valid_o(queued[p]), .request_o(first[p]), .pop_i(pop[p])
    );
  end

  // ---- arbiter: the next port after the one granted last
  logic       grant, performed, serving;
  port_t      granted, last;
  logic [7:0] remaining;  // cycles of the request being served, this one included
  assign performed = serving && remaining == 8'd1;
  always_comb begin
    granted = last;
    for (int unsigned distance = Ports; distance >= 1; distance--) begin
      if (queued[port_t'((32'(last) + distance) % Ports)]) granted = port_t'((32'(last) + distance) % Ports);
    end
    grant = queued != '0 && (!serving || performed);
    pop   = '0;
    pop[granted] = grant;
  end

  // ---- the request being served
  port_t        port;
  bus_request_t request;
  function automatic logic [7:0] service(input bus_kind_e kind);
    unique case (kind)
      BUS_WRITE:  return 8'(WriteCycles);
      BUS_ATOMIC: return 8'(AtomicCycles);
      default:    return 8'(AccessCycles + Beats);
    endcase
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      serving   <= 1'b0;
      remaining <= 8'd0;
      last      <= port_t'(Ports - 1);
      port      <= '0;
      request   <= '0;
    end else if (grant) begin
      serving   <= 1'b1;
      remaining <= service(first[granted].kind);
      last      <= granted;
      port      <= granted;
      request   <= first[granted];
    end else begin
      if (performed) serving <= 1'b0;
      if (serving) remaining <= remaining - 8'd1;
    end
  end

  // ---- memory
  logic        writes, atomics, atomic_write;
  logic [31:0] atomic_result, atomic_data;
  assign writes  = performed && request.kind == BUS_WRITE;
  assign atomics = performed && request.kind == BUS_ATOMIC;
  atomic_unit #(.Harts(Ports)) u_atomic (
      .clk_i, .rst_i,
      .valid_i(atomics), .hart_i(port), .atomic_i('{op: request.op, addr: request.addr, data: request.data}),
      .old_i(rdata_i), .result_o(atomic_result), .write_o(atomic_write), .data_o(atomic_data),
      .store_i(writes), .store_addr_i(request.addr)
  );
  assign addr_o  = request.addr;
  assign write_o = writes || atomic_write;
  assign store_o = writes ? '{addr: request.addr, strobe: request.strobe, data: request.data}
                          : '{addr: request.addr, strobe: 4'b1111, data: atomic_data};

  // The writer's own cache takes a store as it passes; what memory computes it does not know.
  always_comb begin
    drop_o = {Ports{write_o}};
    if (writes) drop_o[port] = 1'b0;
  end
  assign drop_addr_o = request.addr;

  // ---- responses
  logic      responds;
  port_t     respond_port;
  bus_kind_e respond_kind;
  always_ff @(posedge clk_i) begin
    responds     <= performed && !writes && !rst_i;
    respond_port <= port;
    respond_kind <= request.kind;
    result_o     <= atomic_result;
  end
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      done_o[p] = '0;
      if (responds && respond_port == port_t'(p)) done_o[p][respond_kind] = 1'b1;
      if (writes && port == port_t'(p)) done_o[p][BUS_WRITE] = 1'b1;
    end
  end

  assign idle_o = valid_i == '0 && queued == '0 && !serving && !responds;

  // ---- counters. A request waits from the cycle in which it comes to the one in which it is granted, both included.
  logic [63:0] counter [Ports][NumPortCounters];
  logic [7:0]  waiting [Ports];  // requests at the port and in the queue
  logic [Ports-1:0] stood;       // the request at the port was there in the cycle before
  logic        sc_failed;
  assign sc_failed = atomics && request.op == ATOMIC_SC && !atomic_write;

  logic [Ports-1:0][NumPortCounters-1:0] step;
  always_comb begin
    step = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      step[p][PORT_REQUESTS]      = valid_i[p] && !stood[p];
      step[p][PORT_GRANTS]        = pop[p];
      step[p][PORT_RETRIES]       = valid_i[p] && !ready_o[p];
      step[p][PORT_LINES]         = pop[p] && (first[p].kind == BUS_IFILL || first[p].kind == BUS_DFILL);
      step[p][PORT_WRITES]        = pop[p] && first[p].kind == BUS_WRITE;
      step[p][PORT_ATOMICS]       = pop[p] && first[p].kind == BUS_ATOMIC;
      step[p][PORT_SC_FAILURES]   = sc_failed && port == port_t'(p);
      step[p][PORT_INVALIDATIONS] = dropped_i[p];
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (rst_i) begin
        waiting[p] <= 8'd0;
        stood[p]   <= 1'b0;
        for (int unsigned c = 0; c < NumPortCounters; c++) counter[p][c] <= 64'd0;
      end else begin
        stood[p]   <= valid_i[p] && !ready_o[p];
        waiting[p] <= waiting[p] + {7'd0, step[p][PORT_REQUESTS]} - {7'd0, pop[p]};
        if (running_i) begin
          for (int unsigned c = 0; c < NumPortCounters; c++) begin
            if (step[p][c]) counter[p][c] <= counter[p][c] + 64'd1;
          end
          counter[p][PORT_WAIT_CYCLES] <= counter[p][PORT_WAIT_CYCLES] + 64'(waiting[p]) + 64'(step[p][PORT_REQUESTS]);
        end
      end
    end
  end
  assign counter_o = counter[select_port_i][select_counter_i];

  // ---- for observers
  assign probe_o.running      = running_i;
  assign probe_o.valid        = valid_i;
  assign probe_o.ready        = ready_o;
  assign probe_o.grant        = grant;
  assign probe_o.grant_port   = granted;
  assign probe_o.granted      = first[granted];
  assign probe_o.serving      = serving;
  assign probe_o.serving_port = port;
  assign probe_o.serving_kind = request.kind;
  assign probe_o.performed    = performed;
  assign probe_o.sc_failed    = sc_failed;
  assign probe_o.responds     = responds;
  assign probe_o.respond_port = respond_port;
  assign probe_o.respond_kind = respond_kind;
  assign probe_o.invalidated  = dropped_i;
  for (genvar p = 0; p < Ports; p++) begin : g_probe
    assign probe_o.request[p] = request_i[p];
  end
  logic is_line;
  assign is_line             = request.kind == BUS_IFILL || request.kind == BUS_DFILL;
  assign probe_o.beat        = serving && (is_line ? 32'(remaining) <= Beats : remaining == 8'd1);
  assign probe_o.beat_number = is_line ? 4'(Beats - 32'(remaining)) : 4'd0;
endmodule
