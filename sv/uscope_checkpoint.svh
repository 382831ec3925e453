// SPDX-License-Identifier: Apache-2.0
// For the module that answers checkpoints: include this in it, and define there
//
//   function void uscope_checkpoint(input chandle w);
//     uscope_checkpoint_begin(w, st_regs);
//     for (int i = 0; i < 32; i++) uscope_checkpoint_slot1(w, 16'(i), 64'(regs[i]));
//     uscope_checkpoint_end(w);
//   endfunction
//
// and call uscope_checkpoint_enable(w) in it once the trace is open. The function is then called inside
// uscope_begin_cycle whenever that crosses the trace's checkpoint interval. Several modules and several instances may
// each do so, for different traces: each is called in its own scope.
//
// The import is here and not in uscope_pkg because a context import takes its scope from where it is declared.
export "DPI-C" function uscope_checkpoint;
import "DPI-C" context function void uscope_checkpoint_enable(input chandle w);
