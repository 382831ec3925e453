"""Elaborates groups of SystemVerilog files with pyslang, each group a line of stdin: file names with spaces between. After --parse they are
only parsed. Prints what slang reports, and ends with status 1 where that is anything."""

import sys

import pyslang

from pyslang.ast import Compilation, CompilationOptions
from pyslang.syntax import SyntaxTree

SyntaxTree.getDefaultSourceManager().addUserDirectories("sv")
# Files without a time scale among others with one: allowed, simulators have such a default, too.
options = CompilationOptions()
options.defaultTimeScale = pyslang.TimeScale.fromString("1ns/1ps")
failed = False
for line in sys.stdin:
    names = line.split()
    parses = names[0] == "--parse"
    compilation = Compilation(pyslang.Bag([options]))
    for path in names[parses:]:
        compilation.addSyntaxTree(SyntaxTree.fromFile(path))
    engine = pyslang.DiagnosticEngine(SyntaxTree.getDefaultSourceManager())
    engine.setWarningOptions(["default"])  # what slang itself reports without options
    client = pyslang.TextDiagnosticClient()
    engine.addClient(client)
    for diagnostic in compilation.getParseDiagnostics() if parses else compilation.getAllDiagnostics():
        engine.issue(diagnostic)
    if engine.numErrors or engine.numWarnings:
        failed = True
        print(client.getString(), end="")
sys.exit(failed)
