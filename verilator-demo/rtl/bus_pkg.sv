// What harts and memory say to each other over the interconnect.
package bus_pkg;
  import rv_pkg::*;

  // A hart has at most one request of each kind on its way.
  localparam int unsigned NumKinds = 4;
  typedef enum logic [1:0] {
    BUS_IFILL  = 2'd0,  // a line for the instruction cache
    BUS_DFILL  = 2'd1,  // a line for the data cache
    BUS_WRITE  = 2'd2,
    BUS_ATOMIC = 2'd3
  } bus_kind_e;

  typedef struct packed {
    bus_kind_e   kind;
    logic [31:0] addr;
    logic [3:0]  strobe;  // of a write
    logic [31:0] data;    // of a write or an atomic operation
    atomic_op_e  op;
  } bus_request_t;

  // What the interconnect counts at each port, by number at its counter read port.
  localparam int unsigned NumPortCounters = 9;
  typedef enum logic [3:0] {
    PORT_REQUESTS      = 4'd0,
    PORT_GRANTS        = 4'd1,
    PORT_RETRIES       = 4'd2,  // cycles in which a request finds the queue full
    PORT_WAIT_CYCLES   = 4'd3,  // from request to grant, summed up
    PORT_LINES         = 4'd4,  // of them: lines read
    PORT_WRITES        = 4'd5,
    PORT_ATOMICS       = 4'd6,
    PORT_SC_FAILURES   = 4'd7,
    PORT_INVALIDATIONS = 4'd8   // lines lost because somebody wrote into them
  } port_counter_e;
endpackage
