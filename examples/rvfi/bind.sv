// All there is to do: the ports take the core's signals of the same names.
bind core uscope_rvfi u_uscope_rvfi (.rst(!rst_n), .*);
