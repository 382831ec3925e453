// The tracer that comes with CV32E40X, to compare the cost. It reads what the program's instructions are from a file: +itb_file=FILE +log_file=FILE.
bind cv32e40x_rvfi rvfi_sim_trace u_own_tracer (.*);
