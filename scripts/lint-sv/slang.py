"""Elaborates groups of SystemVerilog files with pyslang, each group a line of stdin: file names with spaces between. Prints what it reports."""

import sys

import pyslang

try:
    from pyslang.ast import Compilation
    from pyslang.syntax import SyntaxTree
except ImportError:  # before pyslang 9
    from pyslang import Compilation, SyntaxTree

failed = False
for line in sys.stdin:
    compilation = Compilation()
    for path in line.split():
        compilation.addSyntaxTree(SyntaxTree.fromFile(path))
    diagnostics = compilation.getAllDiagnostics()
    if diagnostics:
        failed = True
        print(pyslang.DiagnosticEngine.reportAll(SyntaxTree.getDefaultSourceManager(), diagnostics))
sys.exit(failed)
