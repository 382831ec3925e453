# SPDX-License-Identifier: Apache-2.0
"""
Prints docs/reference/api/python.md: the public classes and functions of cocotbext-uscope with their docstrings, read from the sources without running them.

    python3 scripts/api_python.py cocotb-adapter/src/cocotbext/uscope
"""

import ast
import re
import sys
from pathlib import Path

# Module and class; then the classes that it inherits from and that have no section: what a user sees is one interface.
PUBLIC = [
    ("trace", "Trace", []),
    ("client", "ClientTrace", [("recorder", "Recorder"), ("frames", "Frames")]),
    ("model", "Scope", []),
    ("model", "StorageView", []),
    ("model", "Slot", []),
    ("transactions", "Transactions", []),
    ("transactions", "TransactionStream", []),
    ("transactions", "TransactionGenerator", []),
    ("transactions", "Transaction", []),
    ("rvfi", "Rvfi", []),
    ("stats", "TraceStats", []),
    ("errors", "UscopeError", []),
]

# Between the parts of the package.
INTERNAL = {"open_arguments", "place_of", "next_slice", "was_opened", "numbers_of", "unresolved_number", "rejected_by"}


def text_of(node):
    """The docstring as Markdown: Sphinx's parameters as a list, its double backticks as single ones."""
    doc = ast.get_docstring(node) or ""
    doc = re.sub(r":class:`([^`]*)`", r"`\1`", doc).replace("``", "`")
    doc = re.sub(r"(?m)^:param ([^:]*):\s*", r"* `\1`: ", doc)
    doc = re.sub(r"\s*:raises ([^:]*): ", r"\n\nRaises `\1`: ", doc)
    doc = re.sub(r"(?m)^(?!\* )(.+)\n(\* `)", r"\1\n\n\2", doc)
    return re.sub(r"\n{3,}", "\n\n", doc).strip()


def signature(function, name):
    arguments = ast.unparse(function.args)
    arguments = re.sub(r"^self(, /)?(, )?", "", arguments)
    arguments = re.sub(r"^cls(, )?", "", arguments)
    result = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    kind = "async def " if isinstance(function, ast.AsyncFunctionDef) else "def "
    if function.name == "__init__":
        kind = result = ""
    return f"```python\n{kind}{name}({arguments}){result}\n```"


def is_property(function):
    return any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list)


def members(body, seen):
    for node in body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("_") or node.name in seen:
            continue
        doc = text_of(node)
        # Undocumented ones are for the package itself, as are the callbacks of the connection.
        if not doc or node.name.startswith("on_") or node.name in INTERNAL:
            continue
        seen.add(node.name)
        if is_property(node):
            yield f"### {node.name}\n\n`{ast.unparse(node.returns)}`. {doc}" if node.returns else f"### {node.name}\n\n{doc}"
        else:
            yield f"### {node.name}\n\n{signature(node, node.name)}\n\n{doc}"


def find(trees, module, name):
    return next((n for n in trees(module).body if isinstance(n, ast.ClassDef) and n.name == name), None)


def main():
    folder = Path(sys.argv[1])
    parsed = {}

    def trees(module):
        if module not in parsed:
            parsed[module] = ast.parse((folder / f"{module}.py").read_text("utf-8"))
        return parsed[module]

    for module, name, bases in PUBLIC:
        node = find(trees, module, name)
        if node is None:
            sys.exit(f"api_python.py: {module}.py has no class {name}")
        print(f"## {name}\n\n`cocotbext.uscope.{module}`\n")
        if text_of(node):
            print(f"{text_of(node)}\n")
        seen = set()
        create = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        if create is not None:
            print(f"{signature(create, name)}\n")
            if text_of(create):
                print(f"{text_of(create)}\n")
        elif any(isinstance(n, ast.AnnAssign) for n in node.body):
            fields = [ast.unparse(n) for n in node.body if isinstance(n, ast.AnnAssign)]
            print("```python\n" + "\n".join(fields) + "\n```\n")
        for part, base in [(module, name), *bases]:
            for text in members(find(trees, part, base).body, seen):
                print(f"{text}\n")


main()
