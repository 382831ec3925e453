// Records what the interconnect does, as transactions of the `noc` protocol. Frames as in tracer.sv: the edge that ends a
// cycle adds what the cycle has been and closes its frame, then opens the next one with what the edge does.
//
// The numbers of transactions and their storages are kept by uscope_noc_pkg; this module keeps which transaction is which
// request. Counters and names come from noc_trace_pkg, generated from noc.yaml. Without +notrace the trace is opened as
// `noc`; +noc-schema=FILE names the schema's file.
module noc_tracer
  import rv_pkg::*;
  import bus_pkg::*;
  import uscope_pkg::*;
  import uscope_noc_pkg::*;
  import noc_trace_pkg::*;
#(
    parameter int unsigned Ports      = 4,
    parameter int unsigned QueueDepth = 2
) (
    input logic           clk_i,
    input logic           rst_i,
    noc_probe_if.observer probe_i
);
  localparam int unsigned PortBits   = $clog2(Ports);
  localparam int unsigned PortStride = 32'(ST_NOC_PORT1_REQUESTS) - 32'(ST_NOC_PORT0_REQUESTS);
  initial begin
    if (Ports != 4 || SLOTS_QUEUE0 != QueueDepth) $fatal(1, "noc.yaml describes 4 ports with queues of %0d", SLOTS_QUEUE0);
    if (PortStride != NumPortCounters || 32'(ST_NOC_PORT3_INVALIDATIONS) != 32'(ST_NOC_PORT3_REQUESTS) + 32'(PORT_INVALIDATIONS)) begin
      $fatal(1, "the counters in noc.yaml are not those of bus_pkg");
    end
  end

  // The tracer's own account is kept by one process, in the order in which things are recorded.
  /* verilator lint_off BLKSEQ */
  chandle trace, network, memory;
  bit     opened, tracing, framed;
  string  schema_path;
  int     queue [Ports];
  longint unsigned now;  // ps, when the cycle began

  typedef int unsigned id_t;
  typedef logic [PortBits-1:0] port_t;
  id_t        ids [Ports][NumKinds];  // of each port's requests on their way
  id_t        service;                // memory's own number of what it serves
  id_t        answered;               // the one in the response stage
  bit [Ports-1:0] stood;              // the request at the port has been recorded
  int unsigned    unserved [Ports];   // requests from birth to grant, as the interconnect counts them
  int unsigned    credits [Ports];

  function automatic void open_trace();
    if ($test$plusargs("notrace")) return;
    if (!$value$plusargs("noc-schema=%s", schema_path)) schema_path = "";
    trace = noc_open("noc", schema_path);
    tracing = trace != null;
    network = uscope_noc_new(trace, "noc");
    memory  = uscope_noc_new(trace, "noc/memory");
    for (int unsigned p = 0; p < Ports; p++) begin
      queue[p]    = uscope_noc_buffer(network, $sformatf("queue%0d", p));
      credits[p]  = QueueDepth;
      unserved[p] = 0;
    end
    service  = USCOPE_NOC_NONE;
    answered = USCOPE_NOC_NONE;
    stood    = '0;
  endfunction

  final begin
    if (tracing) begin
      uscope_noc_free(network);
      uscope_noc_free(memory);
      uscope_close(trace);
    end
  end

  always @(posedge clk_i) begin
    if (rst_i) begin
      if (!opened) open_trace();
      opened = 1'b1;
      now    = 64'd0;
    end else begin
      if (tracing) begin
        if (probe_i.running && !framed) uscope_begin_cycle(trace, now);
        if (probe_i.running || framed) begin
          if (probe_i.running) record_cycle();
          uscope_end_cycle(trace);
        end
        if (probe_i.running) begin
          uscope_begin_cycle(trace, now + 64'(PERIOD_PS_CORE_CLK));
          record_edge();
        end
        framed = probe_i.running;
      end
      now = now + 64'(PERIOD_PS_CORE_CLK);
    end
  end

  function automatic void count(input int unsigned port, input port_counter_e counter, input longint unsigned by);
    uscope_slot_add(trace, ST_NOC_PORT0_REQUESTS + 16'(port * PortStride) + 16'(counter), 16'd0, 16'd0, by);
  endfunction

  // ---- what the cycle was

  function automatic void record_cycle();
    for (int unsigned p = 0; p < Ports; p++) begin
      if (probe_i.valid[p]) record_request(p);
      if (unserved[p] != 0) count(p, PORT_WAIT_CYCLES, 64'(unserved[p]));
      if (probe_i.invalidated[p]) count(p, PORT_INVALIDATIONS, 64'd1);
    end
    if (probe_i.grant) record_grant();
    if (probe_i.serving) busy_cycles_add(trace, 64'd1);
    if (probe_i.beat) record_beat();
    if (probe_i.sc_failed) count(32'(probe_i.serving_port), PORT_SC_FAILURES, 64'd1);
    cycles_add(trace, 64'd1);
  endfunction

  function automatic noc_opcode_e opcode_of(input bus_kind_e kind, input atomic_op_e op);
    unique case (kind)
      BUS_IFILL: return NOC_OPCODE_FETCH_LINE;
      BUS_DFILL: return NOC_OPCODE_READ_LINE;
      BUS_WRITE: return NOC_OPCODE_WRITE;
      default: begin
        if (op == ATOMIC_LR) return NOC_OPCODE_LR;
        return op == ATOMIC_SC ? NOC_OPCODE_SC : NOC_OPCODE_AMO;
      end
    endcase
  endfunction

  function automatic bit is_line(input bus_kind_e kind);
    return kind == BUS_IFILL || kind == BUS_DFILL;
  endfunction

  // Each request at a port is born once, and asks again as long as it finds no room in the queue.
  function automatic void record_request(input int unsigned p);
    bus_kind_e kind;
    bit line;
    kind = probe_i.request[p].kind;
    line = is_line(kind);
    if (!stood[p]) begin
      ids[p][kind] = uscope_noc_begin(network, 32'(opcode_of(kind, probe_i.request[p].op)),
                                      64'(probe_i.request[p].addr), line ? 4 : 1, line ? 8 : 4, p, 0);
      uscope_noc_stage(network, ids[p][kind], 32'(NOC_STAGE_REQUEST));
      count(p, PORT_REQUESTS, 64'd1);
      unserved[p] = unserved[p] + 1;
    end
    stood[p] = !probe_i.ready[p];
    if (stood[p]) begin
      uscope_noc_retry(network, ids[p][kind], 32'(RETRY_REASON_QUEUE_FULL));
      count(p, PORT_RETRIES, 64'd1);
    end
  endfunction

  function automatic void record_grant();
    int unsigned p;
    p = 32'(probe_i.grant_port);
    uscope_noc_arbitrate(network, ids[p][probe_i.granted.kind], 0);
    count(p, PORT_GRANTS, 64'd1);
    unique case (probe_i.granted.kind)
      BUS_WRITE:  count(p, PORT_WRITES, 64'd1);
      BUS_ATOMIC: count(p, PORT_ATOMICS, 64'd1);
      default:    count(p, PORT_LINES, 64'd1);
    endcase
    unserved[p] = unserved[p] - 1;
  endfunction

  function automatic void record_beat();
    if (probe_i.beat_number == 4'd0) uscope_noc_stage(memory, service, 32'(MEMORY_STAGE_TRANSFER));
    uscope_noc_beat(memory, service, 32'(probe_i.beat_number));
  endfunction

  // ---- what the edge does at its end, what is furthest on its way first

  function automatic void record_edge();
    if (answered != USCOPE_NOC_NONE) uscope_noc_complete(network, answered);
    answered = USCOPE_NOC_NONE;
    if (probe_i.performed) record_performed();
    if (probe_i.grant) record_service();
    for (int unsigned p = 0; p < Ports; p++) begin
      if (probe_i.valid[p] && probe_i.ready[p]) record_queued(port_t'(p));
    end
    for (int unsigned p = 0; p < Ports; p++) record_credit(p);
  endfunction

  function automatic void record_performed();
    id_t id;
    id = ids[probe_i.serving_port][probe_i.serving_kind];
    uscope_noc_complete(memory, service);
    service = USCOPE_NOC_NONE;
    if (probe_i.serving_kind == BUS_WRITE) begin
      uscope_noc_complete(network, id);
    end else begin
      uscope_noc_stage(network, id, 32'(NOC_STAGE_RESPONSE));
      answered = id;
    end
  endfunction

  // It leaves its queue and is memory's now, under memory's number.
  function automatic void record_service();
    id_t id;
    bit  line;
    bus_kind_e kind;
    kind = probe_i.granted.kind;
    id   = ids[probe_i.grant_port][kind];
    line = is_line(kind);
    void'(uscope_noc_pop(network, queue[probe_i.grant_port]));
    uscope_noc_stage(network, id, 32'(NOC_STAGE_MEMORY));
    service = uscope_noc_begin(memory, 32'(opcode_of(kind, probe_i.granted.op)), 64'(probe_i.granted.addr), line ? 4 : 1,
                               line ? 8 : 4, 32'(probe_i.grant_port), 0);
    uscope_noc_stage(memory, service, 32'(MEMORY_STAGE_ACCESS));
    uscope_noc_handoff(network, id, memory, service);
  endfunction

  function automatic void record_queued(input port_t p);
    id_t id;
    id = ids[p][probe_i.request[p].kind];
    uscope_noc_stage(network, id, 32'(NOC_STAGE_QUEUE));
    void'(uscope_noc_push(network, queue[p], id));
  endfunction

  // Room left in a queue, where it changes.
  function automatic void record_credit(input int unsigned p);
    int unsigned left;
    left = credits[p];
    if (probe_i.valid[p] && probe_i.ready[p]) left = left - 1;
    if (probe_i.grant && 32'(probe_i.grant_port) == p) left = left + 1;
    if (left != credits[p]) uscope_noc_credit(network, p, left);
    credits[p] = left;
  endfunction
  /* verilator lint_on BLKSEQ */
endmodule
