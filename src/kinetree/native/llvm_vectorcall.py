"""The machine code of ``f(q, v, a)`` and ``f(q, v, a, out=tau)`` (`vectorcall`): arguments go to the entry as they are.

``kinetree_vectorcall(self, args, nargs, names)`` follows CPython's convention METH_FASTCALL | METH_KEYWORDS. It calls
the entry with the arrays, ``out`` as the last of them if that is the only keyword; when the entry refuses, or for all
other arguments, it passes them on to the fallback, an object of Python.
"""

from __future__ import annotations

CONTEXT = (
    *("entry", "entry_self", "inputs", "out_name", "array_type", "not_implemented", "fallback"),
    *("vectorcall", "decref"),
)
"""Names of the 64-bit numbers in the context, in order: pointers, and how many inputs there are."""

TUPLE_SIZE, TUPLE_ITEMS = 16, 24  # byte offsets in tuples of CPython with the GIL


def vectorcall_ir(fields: dict[str, int]) -> str:
    """The text; ``fields`` are byte offsets in array objects."""
    load = "\n".join(
        f"  %{name}_at = getelementptr inbounds i64, ptr %context, i64 {k}\n"
        f"  %{name} = load {'i64' if name == 'inputs' else 'ptr'}, ptr %{name}_at"
        for k, name in enumerate(CONTEXT)
    )
    return f"""
define ptr @kinetree_vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
begin:
  %context_at = getelementptr inbounds i8, ptr %self, i64 {fields["data"]}
  %context = load ptr, ptr %context_at
{load}
  %fits = icmp eq i64 %nargs, %inputs
  br i1 %fits, label %look, label %explain
look:
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %run, label %named
named:
  %size_at = getelementptr inbounds i8, ptr %names, i64 {TUPLE_SIZE}
  %size = load i64, ptr %size_at
  %alone = icmp eq i64 %size, 1
  br i1 %alone, label %keyword, label %explain
keyword:
  %name_at = getelementptr inbounds i8, ptr %names, i64 {TUPLE_ITEMS}
  %name = load ptr, ptr %name_at
  %is_out = icmp eq ptr %name, %out_name
  %value_at = getelementptr inbounds ptr, ptr %args, i64 %nargs
  %value = load ptr, ptr %value_at
  %type_at = getelementptr inbounds i8, ptr %value, i64 {fields["type"]}
  %type = load ptr, ptr %type_at
  %is_array = icmp eq ptr %type, %array_type
  %good = and i1 %is_out, %is_array
  %more = add i64 %nargs, 1
  br i1 %good, label %run, label %explain
run:
  %count = phi i64 [ %nargs, %look ], [ %more, %keyword ]
  %result = call ptr %entry(ptr %entry_self, ptr %args, i64 %count)
  %refused = icmp eq ptr %result, %not_implemented
  br i1 %refused, label %drop, label %done
done:
  ret ptr %result
drop:
  call void %decref(ptr %result)
  br label %explain
explain:
  %slow = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %nargs, ptr %names)
  ret ptr %slow
}}
"""
