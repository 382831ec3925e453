/** Words that are not identifiers in the generated languages. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** C11 and C++20, and what compilers and the included headers define as macros. */
export const C_WORDS = words(`
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if import inline int long module mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public reflexpr register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch synchronized template this thread_local throw true try typedef typeid typename
typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
linux unix i386 errno stdin stdout stderr NULL EOF BUFSIZ FILENAME_MAX FOPEN_MAX L_tmpnam TMP_MAX SEEK_SET SEEK_CUR SEEK_END RAND_MAX
EXIT_SUCCESS EXIT_FAILURE MB_CUR_MAX
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t malloc free snprintf`);

/** IEEE 1800-2017; Verilator warns about the words of C++ too, which its output is written in. */
export const SV_WORDS = new Set([
  ...words(`
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins binsof bit break buf
bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const constraint context continue cover covergroup
coverpoint cross deassign default defparam design disable dist do edge else end endcase endchecker endclass endclocking endconfig
endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram endproperty endspecify endsequence endtable
endtask enum event eventually expect export extends extern final first_match for force foreach forever fork forkjoin function generate genvar
global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input inside instance int
integer interconnect interface intersect join join_any join_none large let liblist library local localparam logic longint macromodule matches
medium modport module nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter
pmos posedge primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand
randc randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1
s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small soft solve specify
specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout
time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until
until_with untyped use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
std randomize`),
  ...C_WORDS,
]);

/** Python 3, and the builtins that generated code uses. */
export const PYTHON_WORDS = words(`
False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda
nonlocal not or pass raise return try while with yield
self int str bool isinstance`);

/** Reserved in modules and classes of TypeScript, and what may not be a parameter or a member. */
export const TS_WORDS = words(`
arguments as async await break case catch class const constructor continue debugger default delete do else enum eval export extends false
finally for from function if implements import in instanceof interface let new null package private protected public return static super
switch this throw true try typeof undefined var void while with yield
any bigint boolean never number object string symbol unknown prototype String`);
