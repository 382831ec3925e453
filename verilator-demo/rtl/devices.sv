// The devices, all of them registers of one word. Anything else faults.
//   0x0200_4000, 4  mtimecmp, low and high word: the timer interrupts while mtime >= mtimecmp
//   0x0200_bff8, c  mtime, low and high word, read-only: cycles since reset
//   0x1000_0000     console, write-only: the low byte is printed
//   0x1000_0004     result of the program, write-only
//   0x1000_0008     number of harts, read-only
// Only one hart has the console and the result.
module devices (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] addr_i,
    input  logic        load_i,
    input  logic        store_i,          // a store looks whether somebody is at home
    input  logic        write_i,          // it takes effect
    input  logic [31:0] wdata_i,
    input  logic [31:0] harts_i,
    input  logic        has_console_i,
    output logic [31:0] rdata_o,
    output logic        here_o,
    output logic        timer_irq_o,
    output logic        console_valid_o,  // one cycle per byte
    output logic [7:0]  console_byte_o,
    output logic        result_valid_o,   // stays set
    output logic [31:0] result_o
);
  localparam logic [31:0] CompareLow  = 32'h0200_4000;
  localparam logic [31:0] CompareHigh = 32'h0200_4004;
  localparam logic [31:0] TimeLow     = 32'h0200_bff8;
  localparam logic [31:0] TimeHigh    = 32'h0200_bffc;
  localparam logic [31:0] Console     = 32'h1000_0000;
  localparam logic [31:0] Result      = 32'h1000_0004;
  localparam logic [31:0] Harts       = 32'h1000_0008;

  logic [63:0] mtime, mtimecmp;
  assign timer_irq_o = mtime >= mtimecmp;

  always_comb begin
    case (addr_i)
      CompareLow:      rdata_o = mtimecmp[31:0];
      CompareHigh:     rdata_o = mtimecmp[63:32];
      TimeLow:         rdata_o = mtime[31:0];
      TimeHigh:        rdata_o = mtime[63:32];
      Harts:           rdata_o = harts_i;
      default:         rdata_o = 32'd0;
    endcase
    unique case (addr_i)
      CompareLow, CompareHigh: here_o = load_i || store_i;
      TimeLow, TimeHigh, Harts: here_o = load_i;
      Console, Result:         here_o = store_i && has_console_i;
      default:                 here_o = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      mtime           <= 64'd0;
      mtimecmp        <= '1;
      console_valid_o <= 1'b0;
      console_byte_o  <= 8'd0;
      result_valid_o  <= 1'b0;
      result_o        <= 32'd0;
    end else begin
      mtime           <= mtime + 64'd1;
      console_valid_o <= write_i && addr_i == Console;
      if (write_i) begin
        case (addr_i)
          CompareLow:  mtimecmp[31:0]  <= wdata_i;
          CompareHigh: mtimecmp[63:32] <= wdata_i;
          Console:     console_byte_o  <= wdata_i[7:0];
          default: begin
            result_valid_o <= 1'b1;
            result_o       <= wdata_i;
          end
        endcase
      end
    end
  end
endmodule
