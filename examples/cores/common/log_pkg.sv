// For the logs that traces of pipelines are compared with.
package log_pkg;
  function automatic string shown(input bit valid, input logic [31:0] value);
    return valid ? $sformatf("%h", value) : "-";
  endfunction
endpackage
