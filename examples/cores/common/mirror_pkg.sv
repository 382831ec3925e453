// Slots of a storage that mirror registers of a core: written when what they hold changes.
package mirror_pkg;
  import uscope_pkg::*;

  // What a slot holds in the trace.
  typedef struct {
    bit        valid;
    bit [63:0] value;
  } mirrored_t;

  // A slot of one field: `known` is what the last call for it returned.
  function automatic mirrored_t mirror(input chandle w, input int storage, input int unsigned slot, input bit valid,
                                       input bit [63:0] value, input mirrored_t known);
    mirrored_t held;
    if (valid && (!known.valid || value != known.value)) uscope_slot_set(w, 16'(storage), 16'(slot), 16'd0, value);
    if (known.valid && !valid) uscope_slot_clear(w, 16'(storage), 16'(slot));
    held.valid = valid;
    held.value = value;
    return held;
  endfunction
endpackage
