// Loads, stores, atomic operations and fences in the memory stage: alignment, byte lanes, the store buffer, and the data
// cache. With WriteAllocate waiting stores need their line in the cache, too, loads coming first; without, they go to
// memory past the cache. A store leaves the buffer in the cycle in which memory takes it. Devices are used directly, in
// program order, once the buffer is empty; atomic operations are done by memory, once the buffer is empty.
module lsu
  import rv_pkg::*;
#(
    parameter int unsigned StoreDepth  = 4,
    parameter int unsigned CacheSets   = 16,
    parameter int unsigned CacheWays   = 2,
    parameter int unsigned LineBytes   = 32,
    parameter bit          WriteAllocate = 1'b1
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        load_i,
    input  logic        store_i,
    input  logic        atomic_i,
    input  logic        fence_i,
    input  logic [2:0]  funct3_i,
    input  logic [4:0]  funct5_i,
    input  logic [31:0] addr_i,
    input  logic [31:0] store_data_i,
    input  logic        kill_i,  // an older instruction traps: no side effect
    // data memory and devices, answered within the cycle
    output logic [31:0] dmem_addr_o,
    output logic        dmem_load_o,
    output logic        dmem_store_o,
    output logic        dmem_device_write_o,  // a device takes the store now
    output store_t      dmem_drain_o,         // the oldest store wants to leave the buffer, when dmem_drain_valid_o
    output logic        dmem_drain_valid_o,
    input  logic        dmem_drain_done_i,    // memory takes it in this cycle
    output logic        dmem_atomic_valid_o,  // until it is done
    output atomic_t     dmem_atomic_o,
    input  logic        dmem_atomic_done_i,
    input  logic [31:0] dmem_atomic_result_i,
    output logic [31:0] dmem_wdata_o,
    input  logic [31:0] dmem_rdata_i,
    input  logic        dmem_fault_i,
    input  logic        dmem_device_i,        // the address is not memory
    // lines for the data cache
    output logic        fill_miss_o,
    output logic        fill_valid_o,
    output logic [31:0] fill_addr_o,
    input  logic        fill_done_i,
    input  logic        drop_i,
    input  logic [31:0] drop_addr_i,
    output logic        dropped_o,
    // results
    output logic        wait_o,
    output stall_e      wait_reason_o,
    output logic [31:0] load_data_o,          // or the result of an atomic operation
    output logic        forwarded_o,
    output exc_t        exc_o,
    // for counters and observers
    output store_probe_t store_probe_o,
    output logic [3:0]   store_strobe_o,
    output logic         cache_access_o
);
  logic [1:0] lane;
  logic       misaligned;
  logic [3:0] strobe;
  assign lane = addr_i[1:0];

  always_comb begin
    unique case (funct3_i[1:0])
      2'b00: begin
        misaligned = 1'b0;
        strobe     = 4'b0001 << lane;
      end
      2'b01: begin
        misaligned = lane[0];
        strobe     = 4'b0011 << lane;
      end
      default: begin
        misaligned = lane != 2'b00;
        strobe     = 4'b1111;
      end
    endcase
  end

  assign dmem_addr_o  = {addr_i[31:2], 2'b00};
  assign dmem_load_o  = load_i && !misaligned;
  assign dmem_store_o = store_i && !misaligned;
  assign dmem_wdata_o = store_data_i << {lane, 3'b000};

  logic writes;  // may write, as exceptions see it
  assign writes = store_i || (atomic_i && atomic_op_e'(funct5_i) != ATOMIC_LR);
  always_comb begin
    exc_o = NoException;
    if ((load_i || store_i || atomic_i) && misaligned) begin
      exc_o = exception(writes ? CAUSE_STORE_MISALIGNED : CAUSE_LOAD_MISALIGNED, addr_i);
    end else if (((load_i || store_i) && dmem_fault_i) || (atomic_i && dmem_device_i)) begin
      exc_o = exception(writes ? CAUSE_STORE_FAULT : CAUSE_LOAD_FAULT, addr_i);
    end
  end

  // What is to be done, once and for all sound accesses.
  logic sound, loads, stores, atomic, device;
  assign sound  = (load_i || store_i || atomic_i) && !exc_o.valid && !kill_i;
  assign device = sound && dmem_device_i;
  assign atomic = sound && atomic_i;
  assign loads  = sound && load_i && !dmem_device_i;
  assign stores = sound && store_i && !dmem_device_i;

  // ---- store buffer
  logic full, empty, hit;
  logic [3:0]  buffered_strobe;
  logic [31:0] buffered_data;
  store_t      oldest;
  assign store_strobe_o = strobe;
  store_buffer #(.Depth(StoreDepth)) u_store_buffer (
      .clk_i, .rst_i,
      .push_i(stores && !full),
      .store_i('{addr: dmem_addr_o, strobe: strobe, data: dmem_wdata_o}),
      .full_o(full), .empty_o(empty),
      .load_addr_i(dmem_addr_o), .load_strobe_o(buffered_strobe), .load_data_o(buffered_data),
      .oldest_o(oldest), .pop_i(dmem_drain_done_i), .probe_o(store_probe_o)
  );

  // ---- data cache
  logic looks_up;
  assign forwarded_o = loads && (strobe & ~buffered_strobe) == 4'd0;
  assign looks_up    = loads && !forwarded_o;
  cache_tags #(.Sets(CacheSets), .Ways(CacheWays), .LineBytes(LineBytes)) u_dcache (
      .clk_i, .rst_i,
      .req_i(looks_up || (WriteAllocate && !empty)), .addr_i(looks_up ? dmem_addr_o : oldest.addr),
      .hit_o(hit), .miss_o(fill_miss_o), .filling_o(fill_valid_o), .fill_addr_o, .filled_i(fill_done_i),
      .drop_i, .drop_addr_i, .dropped_o
  );
  assign cache_access_o     = hit;
  assign dmem_drain_o       = oldest;
  assign dmem_drain_valid_o = !empty && (!WriteAllocate || (!looks_up && hit));

  assign dmem_atomic_valid_o = atomic && empty;
  assign dmem_atomic_o       = '{op: atomic_op_e'(funct5_i), addr: dmem_addr_o, data: store_data_i};

  // ---- waiting
  always_comb begin
    wait_o        = 1'b0;
    wait_reason_o = STALL_STORE_DRAIN;
    if (looks_up && !hit) begin
      wait_o        = 1'b1;
      wait_reason_o = STALL_DCACHE_MISS;
    end else if (stores && full) begin
      wait_o        = 1'b1;
      wait_reason_o = STALL_STORE_FULL;
    end else if ((device || atomic || (fence_i && !kill_i)) && !empty) begin
      wait_o = 1'b1;
    end else if (atomic && !dmem_atomic_done_i) begin
      wait_o        = 1'b1;
      wait_reason_o = STALL_ATOMIC;
    end
  end
  assign dmem_device_write_o = device && store_i && empty;

  // ---- load data
  logic [31:0] word, shifted;
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      word[8*i+:8] = buffered_strobe[i] && !dmem_device_i ? buffered_data[8*i+:8] : dmem_rdata_i[8*i+:8];
    end
    shifted = word >> {lane, 3'b000};
    unique case (funct3_i)
      3'b000:  load_data_o = {{24{shifted[7]}}, shifted[7:0]};
      3'b001:  load_data_o = {{16{shifted[15]}}, shifted[15:0]};
      3'b100:  load_data_o = {24'd0, shifted[7:0]};
      3'b101:  load_data_o = {16'd0, shifted[15:0]};
      default: load_data_o = shifted;
    endcase
    if (atomic_i) load_data_o = dmem_atomic_result_i;
  end
endmodule
