"""Snowball's stemmers in JavaScript, made from their Python as it is installed.

Its compiler writes both languages in the same few forms: a method an operation, and a label to
leave (in Python an exception, in JavaScript a block). So the page stems as its documents were, by
whichever version; a form that is not known here is an error, never another stem.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator

from milepost.errors import InputError
from milepost.exports.view import bundle
from milepost.language.stemming import SCRIPTS, stemmer_class

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.And: "&&",
    ast.Eq: "===",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Not: "!",
    ast.NotEq: "!==",
    ast.Or: "||",
    ast.Sub: "-",
    ast.USub: "-",
}


def module(names: Iterable[str]) -> str:
    """The module that stands in a page for ``stemmers.js``; the English stemmer is always in it."""
    scripts = sorted(names)
    parts = ['import { BaseStemmer } from "./snowball.js";\n']
    for name in ("english", *scripts):
        try:
            parts.append(_Class(ast.parse(inspect.getsource(stemmer_class(name)))).script())
        except (_Unknown, OSError) as error:  # OSError: a library without its source
            raise InputError(
                f"the page cannot have the stemmer of {name} words: {error}",
                "pip install snowballstemmer==3.1.1",
            ) from error
    parts.append("export const ENGLISH = new EnglishStemmer();\nexport const STEMMERS = [")
    for name in scripts:
        first, last = map(json.dumps, SCRIPTS[name])
        parts.append(f"  {{ first: {first}, last: {last}, stemmer: new {name.title()}Stemmer() }},")
    return "\n".join([*parts, "];", ""])


class _Unknown(Exception):
    """A form that the compiler did not write so far."""


class _Class:
    def __init__(self, tree: ast.Module) -> None:
        (found,) = tree.body
        if not isinstance(found, ast.ClassDef):
            raise _Unknown(ast.dump(found)[:60])
        self._class = found
        self._methods = {each.name for each in found.body if isinstance(each, ast.FunctionDef)}
        runtime = bundle.file_text("snowball.js")
        self._methods |= set(re.findall(r"^  (\w+)\(.*\) \{$", runtime, re.MULTILINE))

    def script(self) -> str:
        body = [line for each in self._class.body for line in self._member(each)]
        return "\n".join([f"class {self._class.name} extends BaseStemmer {{", *body, "}", ""])

    def _member(self, node: ast.stmt) -> Iterator[str]:
        match node:
            case ast.Expr(ast.Constant()):  # what documents the class
                return
            case ast.Assign([ast.Name(name)], ast.Constant(str() as letters)) if name[:2] == "g_":
                yield f"{name} = new Set({json.dumps(letters)});"
            case ast.Assign([ast.Name(name)], value):
                yield f"{name} = {self._value(value)};"
            case ast.FunctionDef(name=name, body=body):
                own = {
                    each.id
                    for each in ast.walk(node)
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                }
                yield f"{name}() {{"
                if own:
                    yield f"let {', '.join(sorted(own))};"
                yield from self._block(body)
                yield "}"
            case _:
                raise _Unknown(ast.unparse(node)[:60])

    def _block(self, body: list[ast.stmt]) -> Iterator[str]:
        for node in body:
            yield from self._statement(node)

    def _statement(self, node: ast.stmt) -> Iterator[str]:
        match node:
            case ast.Assign([target], value):
                yield f"{self._value(target)} = {self._value(value)};"
            case ast.AugAssign(target, operator, value):
                yield f"{self._value(target)} {self._sign(operator)}= {self._value(value)};"
            case ast.Expr(ast.Call() as call):
                yield f"{self._value(call)};"
            case ast.Return(ast.expr() as value):
                yield f"return {self._value(value)};"
            case ast.If(test, body, otherwise):
                yield f"if ({self._value(test)}) {{"
                yield from self._block(body)
                if otherwise:
                    yield "} else {"
                    yield from self._block(otherwise)
                yield "}"
            case ast.While(test, body, []):
                yield f"while ({self._value(test)}) {{"
                yield from self._block(body)
                yield "}"
            case ast.Try(body, [ast.ExceptHandler(ast.Name(label), None, [ast.Pass()])], [], []):
                yield f"{label}: {{"
                yield from self._block(body)
                yield "}"
            case ast.Raise(ast.Call(ast.Name(label), [], []), None):
                yield f"break {label};"
            case ast.Break():
                yield "break;"
            case ast.Continue():
                yield "continue;"
            case _:
                raise _Unknown(ast.unparse(node)[:60])

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(bool() | int() | str() as value):
                return json.dumps(value, ensure_ascii=False)
            case ast.Name(name):
                return name
            case ast.Attribute(ast.Name(owner), name) if owner in ("self", self._class.name):
                return f"this.{name}"
            case ast.Call(ast.Attribute(ast.Name("self"), name), values, []) if (
                name in self._methods
            ):
                return f"this.{name}({', '.join(map(self._value, values))})"
            case ast.Call(ast.Name("len"), [value], []):
                return f"{self._value(value)}.length"
            case ast.Call(ast.Name("Among"), [*values], []):
                text = [self._value(value) for value in values[:3]]
                text += [json.dumps(each.id) for each in values[3:] if isinstance(each, ast.Name)]
                return f"[{', '.join(text)}]"
            case ast.Set(values):
                return f"new Set([{', '.join(map(self._value, values))}])"
            case ast.List(values) | ast.Tuple(values):
                return f"[{', '.join(map(self._value, values))}]"
            case ast.Subscript(value, place):
                return f"{self._value(value)}[{self._value(place)}]"
            case ast.UnaryOp(operator, value):
                return f"{self._sign(operator)}{self._value(value)}"
            case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
                return f"({self._value(left)} {self._sign(operator)} {self._value(right)})"
            case ast.BoolOp(operator, values):
                return f"({f' {self._sign(operator)} '.join(map(self._value, values))})"
            case _:
                raise _Unknown(ast.unparse(node)[:60])

    def _sign(self, operator: ast.AST) -> str:
        if type(operator) not in _OPERATORS:
            raise _Unknown(type(operator).__name__)
        return _OPERATORS[type(operator)]
