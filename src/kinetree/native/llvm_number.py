"""``kinetree_number(x, room, table, item) -> ptr``: x itself, or an array without axes that stands for it.

A float of Python, a scalar of NumPy in the precision of the kernel and an int that is a double exactly become an
array object in ``room`` with the fields that are looked at (`FIELDS`), so that the checks of arrays need not know
about numbers. ``table`` holds the pointers of `NUMBER`, ``item`` is the size of the kernel's numbers.
"""

from __future__ import annotations

from kinetree.native.builtin import FIELDS, NUMBER, READABLE, ROOM, VALUE

_POINTERS = "\n".join(
    f"  %{name}_at = getelementptr inbounds ptr, ptr %table, i64 {k}\n  %{name} = load ptr, ptr %{name}_at"
    for k, name in enumerate(NUMBER)
)
_ARRAY = {"type": "ptr %array_type", "data": "ptr %place", "nd": "i32 0", "shape": "ptr null", "descr": "ptr %descr"}
_ARRAY["flags"] = f"i32 {READABLE}"
_FIELDS = "\n".join(
    f"  %{name}_field = getelementptr inbounds i8, ptr %room, i64 {FIELDS[name]}\n  store {value}, ptr %{name}_field"
    for name, value in _ARRAY.items()
)
NUMBER_IR = f"""
define internal ptr @kinetree_number(ptr %x, ptr %room, ptr %table, i64 %item) {{
begin:
  %kind_at = getelementptr inbounds i8, ptr %x, i64 {FIELDS["type"]}
  %kind = load ptr, ptr %kind_at
{_POINTERS}
  %value_at = getelementptr inbounds i8, ptr %x, i64 {VALUE}
  %place = getelementptr inbounds i8, ptr %room, i64 {ROOM - 8}
  %wide = icmp eq i64 %item, 8
  %is_array = icmp eq ptr %kind, %array_type
  br i1 %is_array, label %itself, label %look
look:
  %is_float = icmp eq ptr %kind, %float_type
  br i1 %is_float, label %double, label %scalar
scalar:
  %is_scalar = icmp eq ptr %kind, %number_type
  br i1 %is_scalar, label %own, label %whole
own:
  br i1 %wide, label %double, label %single
single:
  %narrow = load float, ptr %value_at
  store float %narrow, ptr %place
  br label %made
double:
  %read = load double, ptr %value_at
  br label %keep
whole:
  %is_int = icmp eq ptr %kind, %int_type
  br i1 %is_int, label %convert, label %itself
convert:
  %converted = call double %int_value(ptr %x)
  %unclear = fcmp oeq double %converted, -1.0
  br i1 %unclear, label %clear, label %range
clear:
  call void %clear_error()
  br label %itself
range:
  %below = fcmp ole double %converted, {2.0**53:.1f}
  %above = fcmp oge double %converted, {-(2.0**53):.1f}
  %exact = and i1 %below, %above
  br i1 %exact, label %keep, label %itself
keep:
  %value = phi double [ %read, %double ], [ %converted, %range ]
  br i1 %wide, label %keep_double, label %keep_single
keep_double:
  store double %value, ptr %place
  br label %made
keep_single:
  %rounded = fptrunc double %value to float
  store float %rounded, ptr %place
  br label %made
made:
{_FIELDS}
  ret ptr %room
itself:
  ret ptr %x
}}
"""
