// The tracer that comes with Ibex, to compare the cost: +ibex_tracer_file_base=FILE.
bind ibex_core ibex_tracer u_own_tracer (.*);
