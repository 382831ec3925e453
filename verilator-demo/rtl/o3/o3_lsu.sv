// Loads and stores out of order. A load queue and a store queue, both in program order, hold them from dispatch on: a load
// until it commits, a store until it has been written. Addresses are computed one in a cycle (execute); in the next cycle
// a load looks into the store queue, for stores older than itself, and into the cache (memory), and comes again when the
// line was not there. Committed stores drain into the cache, oldest first.
//
// A load does not wait for older stores whose address is unknown, unless it had to be replayed for that before (a table
// by pc remembers, for a while). A store that finds a younger load of the same bytes done marks it; at commit the core
// fetches again from a marked load on. Devices are used by the oldest instruction only, once all stores before it have been
// written: loads here, stores when they commit.
module o3_lsu
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned LoadEntries  = 16,
    parameter int unsigned StoreEntries = 16,
    parameter int unsigned WaitEntries  = 64,
    parameter int unsigned WaitCycles   = 16384,  // after which the table forgets
    parameter int unsigned CacheSets    = 16,
    parameter int unsigned CacheWays    = 2,
    parameter int unsigned LineBytes    = 32,
    parameter int unsigned Mshrs        = 4,
    parameter int unsigned MissPenalty  = 12,
    parameter logic [31:0] RamBase      = 32'h8000_0000,
    parameter logic [31:0] RamBytes     = 32'h0001_0000
) (
    input  logic        clk_i,
    input  logic        rst_i,
    // dispatch
    input  logic [1:0]  load_i,
    input  logic [1:0]  store_i,
    input  uop_t        uop_i [Width],
    output seq_t        load_tail_o,
    output seq_t        store_tail_o,
    output logic [7:0]  loads_free_o,
    output logic [7:0]  stores_free_o,
    // execute: the address
    input  uop_t        x_i,
    input  logic [31:0] x_base_i,
    input  logic [31:0] x_data_i,
    output completion_t x_completion_o,   // stores, and what is misaligned
    output logic        wake_o,           // a load counts on a hit in the next cycle
    // memory: a load
    output completion_t m_completion_o,
    output result_t     m_result_o,
    output logic        cancel_o,         // the load of the cycle before is not done
    output preg_t       cancel_preg_o,
    // memory, answered within the cycle
    output logic [31:0] dmem_addr_o,
    input  logic [31:0] dmem_rdata_i,
    output logic        dmem_drain_valid_o,
    output store_t      dmem_drain_o,
    // devices, answered within the cycle
    output logic [31:0] device_addr_o,
    output logic        device_load_o,
    output logic        device_store_o,
    output logic [31:0] device_wdata_o,
    input  logic [31:0] device_rdata_i,
    input  logic        device_here_i,
    // commit
    input  rob_t        head_i,
    input  logic [1:0]  commit_load_i,
    input  logic [1:0]  commit_store_i,
    output logic        violated_o [Width],  // of the oldest loads
    output logic        drained_o,           // no committed store waits
    input  logic        device_store_i,      // the oldest instruction stores to a device: is it there?
    input  logic        violation_i,         // a marked load makes the core fetch again
    input  logic [31:0] violation_pc_i,
    input  kill_t       kill_i,
    input  seq_t        kill_load_i,
    input  seq_t        kill_store_i,
    // for counters and observers
    output logic        retry_o,
    output logic        accessed_o [2],
    output logic        m_valid_o,           // a load is in memory
    output rob_t        m_rob_o,
    output logic [31:0] x_addr_o,
    output logic        x_device_o,
    output store_t      x_store_o,
    output seq_t        load_head_o,
    output seq_t        store_head_o,
    output seq_t        store_committed_o,
    output logic        store_leaves_o,
    output logic [Mshrs-1:0] mshr_taken_o,
    output logic [Mshrs-1:0] mshr_freed_o,
    output logic [31:0] taken_addr_o [Mshrs]
);
  localparam int unsigned LoadBits  = $clog2(LoadEntries);
  localparam int unsigned StoreBits = $clog2(StoreEntries);
  localparam int unsigned WaitBits  = $clog2(WaitEntries);
  initial begin
    if (LoadEntries < 2 || LoadEntries > 64 || 2 ** LoadBits != LoadEntries
        || StoreEntries < 2 || StoreEntries > 64 || 2 ** StoreBits != StoreEntries) begin
      $fatal(1, "LoadEntries and StoreEntries must be powers of two, 2 to 64");
    end
    if (WaitEntries < 2 || 2 ** WaitBits != WaitEntries) $fatal(1, "WaitEntries must be a power of two, at least 2");
  end
  typedef logic [LoadBits-1:0]  load_slot_t;
  typedef logic [StoreBits-1:0] store_slot_t;

  typedef struct packed {
    rob_t        rob;
    preg_t       pd;
    logic [2:0]  funct3;
    seq_t        store;    // stores before this one are older
    logic        ordered;  // waits for their addresses
    logic [31:0] addr;
    logic [3:0]  strobe;
    logic        device;
  } load_entry_t;

  load_entry_t                   loads [LoadEntries];
  load_state_e [LoadEntries-1:0] state;
  logic [LoadEntries-1:0]        violated;
  seq_t                          load_head, load_tail;

  store_t                        stores [StoreEntries];
  logic [StoreEntries-1:0]       store_ready, store_device;  // address and data are there
  seq_t                          store_head, store_committed, store_tail;

  assign load_tail_o   = load_tail;
  assign store_tail_o  = store_tail;
  assign loads_free_o  = 8'(LoadEntries) - (load_tail - load_head);
  assign stores_free_o = 8'(StoreEntries) - (store_tail - store_head);
  assign drained_o     = store_head == store_committed;

  // ---- execute: address, alignment, byte lanes
  logic [31:0] x_addr;
  logic [3:0]  x_strobe;
  logic        x_misaligned, x_device, x_load, x_store;
  assign x_addr   = x_base_i + x_i.ctrl.imm;
  assign x_device = (x_addr - RamBase) >= RamBytes;
  assign x_load   = x_i.valid && x_i.ctrl.load && !x_misaligned;
  assign x_store  = x_i.valid && x_i.ctrl.store && !x_misaligned;
  always_comb begin
    unique case (x_i.ctrl.funct3[1:0])
      2'b00: begin
        x_misaligned = 1'b0;
        x_strobe     = 4'b0001 << x_addr[1:0];
      end
      2'b01: begin
        x_misaligned = x_addr[0];
        x_strobe     = 4'b0011 << x_addr[1:0];
      end
      default: begin
        x_misaligned = x_addr[1:0] != 2'b00;
        x_strobe     = 4'b1111;
      end
    endcase
  end
  always_comb begin
    x_completion_o = '{
        valid: x_i.valid && (x_i.ctrl.store || x_misaligned), rob: x_i.rob, exc: NoException, taken: 1'b0,
        forwarded: 1'b0, device: x_store && x_device
    };
    if (x_misaligned) begin
      x_completion_o.exc = exception(x_i.ctrl.store ? CAUSE_STORE_MISALIGNED : CAUSE_LOAD_MISALIGNED, x_addr);
    end
  end
  assign wake_o     = x_load;
  assign x_addr_o   = x_addr;
  assign x_device_o = x_device;
  assign x_store_o  = '{addr: {x_addr[31:2], 2'b00}, strobe: x_strobe, data: x_data_i << {x_addr[1:0], 3'b000}};

  // ---- memory: the oldest load that can be tried
  seq_t unknown;  // the oldest store whose address is unknown, or the next store
  always_comb begin
    unknown = store_tail;
    for (int unsigned i = StoreEntries; i > 0; i--) begin
      if (is_before(store_head + 8'(i - 1), store_tail) && !store_ready[store_slot_t'(store_head + 8'(i - 1))]) begin
        unknown = store_head + 8'(i - 1);
      end
    end
  end

  logic       m_valid;
  load_slot_t m_slot;
  always_comb begin
    load_slot_t at;
    logic       can;
    m_valid = 1'b0;
    m_slot  = '0;
    for (int unsigned i = 0; i < LoadEntries; i++) begin
      at  = load_slot_t'(load_head + 8'(i));
      can = is_before(load_head + 8'(i), load_tail) && state[at] == LOAD_TRY;
      if (loads[at].device) can = can && loads[at].rob == head_i && loads[at].store == store_head;
      else if (loads[at].ordered) can = can && !is_before(unknown, loads[at].store);
      if (can && !m_valid) begin
        m_valid = 1'b1;
        m_slot  = at;
      end
    end
  end

  load_entry_t m;
  logic [3:0]  queued_strobe;
  logic [31:0] queued_data;
  assign m = loads[m_slot];
  always_comb begin
    seq_t        number;
    store_slot_t at;
    queued_strobe = 4'd0;
    queued_data   = 32'd0;
    for (int unsigned i = 0; i < StoreEntries; i++) begin
      number = store_head + 8'(i);
      at     = store_slot_t'(number);
      if (is_before(number, m.store) && store_ready[at] && stores[at].addr[31:2] == m.addr[31:2]) begin
        for (int unsigned lane = 0; lane < 4; lane++) begin
          if (stores[at].strobe[lane]) begin
            queued_strobe[lane]      = 1'b1;
            queued_data[8*lane+:8] = stores[at].data[8*lane+:8];
          end
        end
      end
    end
  end

  logic m_forwarded, m_done, m_looks_up;
  logic hit [2], req [2], filled;
  logic [31:0] addr [2];
  logic drains;
  assign m_forwarded = m_valid && !m.device && (m.strobe & ~queued_strobe) == 4'd0;
  assign m_looks_up  = m_valid && !m.device && !m_forwarded;
  assign m_done      = m_valid && (m.device || m_forwarded || hit[0]);
  assign retry_o     = m_valid && !m_done;

  store_t oldest;
  assign oldest = stores[store_slot_t'(store_head)];
  assign drains = !drained_o && !store_device[store_slot_t'(store_head)];
  assign req    = '{m_looks_up, drains};
  assign addr   = '{m.addr, oldest.addr};
  o3_dcache #(.Sets(CacheSets), .Ways(CacheWays), .LineBytes(LineBytes), .Mshrs(Mshrs), .MissPenalty(MissPenalty)) u_dcache (
      .clk_i, .rst_i, .req_i(req), .addr_i(addr), .hit_o(hit), .filled_o(filled),
      .mshr_taken_o, .mshr_freed_o, .taken_addr_o
  );
  assign accessed_o         = hit;
  assign dmem_addr_o        = {m.addr[31:2], 2'b00};
  assign dmem_drain_valid_o = drains && hit[1];
  assign dmem_drain_o       = oldest;

  // ---- devices
  store_t device_store;
  assign device_store   = stores[store_slot_t'(store_committed)];
  assign device_load_o  = m_valid && m.device;
  assign device_store_o = device_store_i;
  assign device_addr_o  = device_store_i ? device_store.addr : {m.addr[31:2], 2'b00};
  assign device_wdata_o = device_store.data;

  // ---- load data
  logic [31:0] word, shifted, value;
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      word[8*i+:8] = queued_strobe[i] ? queued_data[8*i+:8] : dmem_rdata_i[8*i+:8];
    end
    if (m.device) word = device_rdata_i;
    shifted = word >> {m.addr[1:0], 3'b000};
    unique case (m.funct3)
      3'b000:  value = {{24{shifted[7]}}, shifted[7:0]};
      3'b001:  value = {{16{shifted[15]}}, shifted[15:0]};
      3'b100:  value = {24'd0, shifted[7:0]};
      3'b101:  value = {16'd0, shifted[15:0]};
      default: value = shifted;
    endcase
  end
  assign m_result_o = '{valid: m_done, preg: m.pd, value: value};
  assign m_completion_o = '{
      valid: m_done, rob: m.rob, taken: 1'b0, forwarded: m_forwarded, device: 1'b0,
      exc: m.device && !device_here_i ? exception(CAUSE_LOAD_FAULT, m.addr) : NoException
  };
  assign m_valid_o = m_valid;
  assign m_rob_o   = m.rob;

  // ---- a load that counted on a hit
  logic       hopes;
  load_slot_t hopes_slot;
  always_ff @(posedge clk_i) begin
    hopes         <= wake_o && !rst_i;
    hopes_slot    <= load_slot_t'(x_i.load);
    cancel_preg_o <= x_i.pd;
  end
  assign cancel_o = hopes && !(m_done && m_slot == hopes_slot);

  // ---- loads that a store finds done too early
  logic [LoadEntries-1:0] too_early;
  always_comb begin
    logic done;
    for (int unsigned i = 0; i < LoadEntries; i++) begin
      done = state[i] == LOAD_DONE || (m_done && m_slot == load_slot_t'(i));
      too_early[i] = x_store && done && !loads[i].device && is_before(x_i.store, loads[i].store)
          && loads[i].addr[31:2] == x_addr[31:2] && (loads[i].strobe & x_strobe) != 4'd0;
    end
  end
  assign violated_o[0] = violated[load_slot_t'(load_head)];
  assign violated_o[1] = violated[load_slot_t'(load_head + 8'd1)];

  // ---- which loads are to wait for older stores
  logic [WaitEntries-1:0] waits;
  logic [31:0]            wait_age;
  always_ff @(posedge clk_i) begin
    if (rst_i || wait_age == WaitCycles) begin
      waits    <= '0;
      wait_age <= 32'd0;
    end else begin
      wait_age <= wait_age + 32'd1;
      if (violation_i) waits[violation_pc_i[2+:WaitBits]] <= 1'b1;
    end
  end

  // ---- the queues
  seq_t load_committed, store_committing;  // heads at the end of the cycle
  assign load_committed   = load_head + 8'($countones(commit_load_i));
  assign store_committing = store_committed + 8'($countones(commit_store_i));

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      load_head       <= '0;
      load_tail       <= '0;
      store_head      <= '0;
      store_committed <= '0;
      store_tail      <= '0;
    end else begin
      load_head       <= load_committed;
      store_committed <= store_committing;
      if (store_leaves_o) store_head <= store_head + 8'd1;
      if (kill_i.valid) begin
        load_tail  <= kill_i.all ? load_committed : kill_load_i;
        store_tail <= kill_i.all ? store_committing : kill_store_i;
      end else begin
        load_tail  <= load_tail + 8'($countones(load_i));
        store_tail <= store_tail + 8'($countones(store_i));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < LoadEntries; i++) if (state[i] == LOAD_LINE && filled) state[i] <= LOAD_TRY;
    if (m_valid) state[m_slot] <= m_done ? LOAD_DONE : (filled ? LOAD_TRY : LOAD_LINE);
    violated <= violated | too_early;
    if (x_load) begin
      state[load_slot_t'(x_i.load)]        <= LOAD_TRY;
      loads[load_slot_t'(x_i.load)].addr   <= x_addr;
      loads[load_slot_t'(x_i.load)].strobe <= x_strobe;
      loads[load_slot_t'(x_i.load)].device <= x_device;
    end
    if (x_store) begin
      stores[store_slot_t'(x_i.store)]       <= x_store_o;
      store_ready[store_slot_t'(x_i.store)]  <= 1'b1;
      store_device[store_slot_t'(x_i.store)] <= x_device;
    end
    for (int unsigned i = 0; i < Width; i++) begin
      if (load_i[i]) begin
        state[load_slot_t'(uop_i[i].load)]    <= LOAD_ADDRESS;
        violated[load_slot_t'(uop_i[i].load)] <= 1'b0;
        loads[load_slot_t'(uop_i[i].load)]    <= '{
            rob: uop_i[i].rob, pd: uop_i[i].pd, funct3: uop_i[i].ctrl.funct3, store: uop_i[i].store,
            ordered: waits[uop_i[i].pc[2+:WaitBits]], addr: 32'd0, strobe: 4'd0, device: 1'b0
        };
      end
      if (store_i[i]) store_ready[store_slot_t'(uop_i[i].store)] <= 1'b0;
    end
  end

  assign load_head_o       = load_head;
  assign store_head_o      = store_head;
  assign store_committed_o = store_committed;
  // A store to a device is done when it commits.
  assign store_leaves_o    = dmem_drain_valid_o || (!drained_o && store_device[store_slot_t'(store_head)]);
endmodule
