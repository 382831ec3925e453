// Everything a tracer needs to know of the interconnect, sampled at the end of a cycle; one bit or one entry per port.
/* verilator lint_off UNUSEDSIGNAL */
interface noc_probe_if
  import bus_pkg::*;
#(
    parameter int unsigned Ports = 4
);
  localparam int unsigned PortBits = Ports > 1 ? $clog2(Ports) : 1;

  logic                running;        // this cycle counts
  logic [Ports-1:0]    valid;          // a request is at the port
  logic [Ports-1:0]    ready;          // it is taken into the queue, if there is one
  bus_request_t        request [Ports];
  logic                grant;          // the arbiter takes the oldest of a queue to memory
  logic [PortBits-1:0] grant_port;
  bus_request_t        granted;
  logic                serving;        // memory is at work
  logic [PortBits-1:0] serving_port;
  bus_kind_e           serving_kind;
  logic                beat;           // a word or a part of a line goes over
  logic [3:0]          beat_number;
  logic                performed;      // the work is done
  logic                sc_failed;      // and it was an SC that did not write
  logic                responds;       // what was performed in the cycle before reaches its hart
  logic [PortBits-1:0] respond_port;
  bus_kind_e           respond_kind;
  logic [Ports-1:0]    invalidated;    // a hart loses a line

  modport bus(
      output running, valid, ready, request, grant, grant_port, granted, serving, serving_port, serving_kind,
      output beat, beat_number, performed, sc_failed, responds, respond_port, respond_kind, invalidated
  );
  modport observer(
      input running, valid, ready, request, grant, grant_port, granted, serving, serving_port, serving_kind,
      input beat, beat_number, performed, sc_failed, responds, respond_port, respond_kind, invalidated
  );
endinterface
/* verilator lint_on UNUSEDSIGNAL */
