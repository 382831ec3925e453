// What a retired instruction did, recorded next to its pipeline: register, memory, trap. Used by the tracers of whole pipelines, whose
// schemas have the events of uscope_rvfi.yaml.
package retirement_pkg;
  import uscope_pkg::*;
  import uscope_rvfi_pkg::*;

  // An instruction of a core with 32 bits that is in machine mode, from the pins of its RVFI.
  function automatic retired_t retired_of(
      input bit [31:0] insn, input bit [31:0] pc, input bit [31:0] next, input bit trap, input bit [31:0] rs1, input bit [4:0] rd_addr,
      input bit [31:0] rd, input bit [31:0] mem_addr, input bit [3:0] mem_rmask, input bit [3:0] mem_wmask, input bit [31:0] mem_rdata,
      input bit [31:0] mem_wdata);
    retired_t r;
    r.insn      = insn;
    r.trap      = trap;
    r.mode      = 2'b11;
    r.pc        = 64'(pc);
    r.next      = 64'(next);
    r.rs1       = 64'(rs1);
    r.rd_addr   = rd_addr;
    r.rd        = 64'(rd);
    r.mem_addr  = 64'(mem_addr);
    r.mem_rmask = 8'(mem_rmask);
    r.mem_wmask = 8'(mem_wmask);
    r.mem_rdata = 64'(mem_rdata);
    r.mem_wdata = 64'(mem_wdata);
    return r;
  endfunction

  // Events and the register file of a scope, as far as its schema has them.
  // Not packed: simulators then keep each in a word.
  typedef struct {
    int regs, reg_write, mem_read, mem_write, trap;
  } effects_t;

  function automatic effects_t effects_of(input chandle w, input string scope);
    effects_t e;
    e.regs      = uscope_storage_id(w, {scope, "/regs"});
    e.reg_write = uscope_event_id(w, {scope, "/reg_write"});
    e.mem_read  = uscope_event_id(w, {scope, "/mem_read"});
    e.mem_write = uscope_event_id(w, {scope, "/mem_write"});
    e.trap      = uscope_event_id(w, {scope, "/trap"});
    return e;
  endfunction

  function automatic void record_effects(input chandle w, input effects_t e, input int unsigned id, input retired_t r);
    if (r.trap) begin
      bit [63:0] cause = trap_cause(r, 1'b1);
      uscope_event4(w, e.trap[15:0], 64'(id), cause, trap_value(r, cause, 1'b1), r.next);
    end else begin
      if (r.mem_rmask != 0 && !never_reads(r.insn))
        uscope_event4(w, e.mem_read[15:0], 64'(id), r.mem_addr, 64'(r.mem_rmask), masked(r.mem_rdata, r.mem_rmask));
      if (r.mem_wmask != 0)
        uscope_event4(w, e.mem_write[15:0], 64'(id), r.mem_addr, 64'(r.mem_wmask), masked(r.mem_wdata, r.mem_wmask));
      if (r.rd_addr != 0) begin
        uscope_event3(w, e.reg_write[15:0], 64'(id), 64'(r.rd_addr), r.rd);
        uscope_slot_set(w, e.regs[15:0], 16'(r.rd_addr), 16'd0, r.rd);
      end
    end
  endfunction
endpackage
