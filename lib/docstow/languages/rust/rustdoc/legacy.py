"""Rewrite an item's ``inner`` of formats 15 to 36 in the form of format 37.

The differences are those of the change notes of ``rustdoc-types``: adjacent tags until 24,
``import``/``typedef``/``method`` and un-prefixed booleans until 33, variants and structs that were
laid out flat until 22.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from docstow.languages.rust.rustdoc.schema import Id

KINDS = {"import": "use", "typedef": "type_alias", "method": "function", "opaque_ty": "type_alias"}
_KEYS = {
    "bindings": "constraints",
    "c_variadic": "is_c_variadic",
    "decl": "sig",
    "fields_stripped": "has_stripped_fields",
    "glob": "is_glob",
    "is_object_safe": "is_dyn_compatible",
    "mutable": "is_mutable",
    "negative": "is_negative",
    "region_predicate": "lifetime_predicate",
    "synthetic": "is_synthetic",
    "variants_stripped": "has_stripped_variants",
}
_HEADER = {"const": "is_const", "unsafe": "is_unsafe", "async": "is_async"}
_TRAITS = ("trait", "trait_")


def upgrade(kind: str, inner: Any, traits: Container[Id]) -> Any:
    """Rewrite the content of an old item.

    Args:
        kind: the item's kind in its new spelling.
        inner: the content without its tag, as decoded JSON.
        traits: ids of traits; format 15 wrote ``dyn Trait`` as the bare path of a trait.

    Returns:
        JSON that converts into the struct of :mod:`.schema` for that kind.
    """
    value = _value(inner, traits)
    if not isinstance(value, dict):
        return {"name": value, "impls": []} if kind == "primitive" else value
    if kind == "struct" and "struct_type" in value:
        value["kind"] = _struct_kind(value)
    elif kind == "variant" and "variant_kind" in value:
        return _variant(value)
    elif kind == "constant" and "const" not in value:
        value["const"] = {key: value[key] for key in ("expr", "value", "is_literal")}
    elif kind == "assoc_const" and "default" in value:
        value["value"] = value.pop("default")
    elif kind == "assoc_type" and "default" in value:
        value["type"] = value.pop("default")
    return value


def _value(value: Any, traits: Container[Id]) -> Any:
    if isinstance(value, list):
        return [_value(each, traits) for each in value]
    if not isinstance(value, dict):
        return value
    if "kind" in value and isinstance(value["kind"], str) and not value.keys() - {"kind", "inner"}:
        return _tagged(value, traits)
    if "param_names" in value:
        value = {key: each for key, each in value.items() if key != "param_names"}
    if "abi" in value:
        return {_HEADER.get(key, key): each for key, each in value.items()}
    new = {_KEYS.get(key, key): _value(each, traits) for key, each in value.items()}
    for key in _TRAITS:
        if isinstance(new.get(key), dict):
            new[key] = _bare_path(new[key])
    if "lifetime_predicate" in new and "bounds" in new["lifetime_predicate"]:
        bounds = new["lifetime_predicate"].pop("bounds")
        new["lifetime_predicate"]["outlives"] = [
            each["outlives"] for each in bounds if "outlives" in each
        ]
    return new


def _tagged(value: dict[str, Any], traits: Container[Id]) -> Any:
    """Turn ``{"kind": k, "inner": x}`` into ``{k: x}``, and a trait used as a type into dyn."""
    kind, inner = value["kind"], value.get("inner")
    if inner is None:
        return kind
    if kind == "resolved_path" and (inner.get("param_names") or inner.get("id") in traits):
        bounds = [_value(each, traits) for each in inner.get("param_names", ())]
        poly = [{"trait": _value(inner, traits), "generic_params": []}]
        poly += [each["trait_bound"] for each in bounds if "trait_bound" in each]
        lifetimes = [each["outlives"] for each in bounds if "outlives" in each]
        return {"dyn_trait": {"traits": poly, "lifetime": lifetimes[0] if lifetimes else None}}
    return {kind: _value(inner, traits)}


def _bare_path(trait: dict[str, Any]) -> dict[str, Any]:
    """Return the path of a trait, which was a type until format 15."""
    if "dyn_trait" in trait:
        trait = trait["dyn_trait"]["traits"][0]["trait"]
    path: dict[str, Any] = trait.get("resolved_path", trait)
    return path


def _struct_kind(value: dict[str, Any]) -> Any:
    if value["struct_type"] == "tuple":
        return {"tuple": value["fields"]}
    if value["struct_type"] == "plain":
        return {
            "plain": {
                "fields": value["fields"],
                "has_stripped_fields": value["has_stripped_fields"],
            }
        }
    return "unit"


def _variant(value: dict[str, Any]) -> dict[str, Any]:
    kind: str = value["variant_kind"]
    inner: Any = value.get("variant_inner")
    if kind == "tuple":
        if any(isinstance(each, dict) for each in inner):
            return {"kind": {"types": inner}}
        return {"kind": {"tuple": inner}}
    if kind == "struct":
        return {"kind": {"struct": inner if isinstance(inner, dict) else {"fields": inner}}}
    return {"kind": "plain", "discriminant": inner}
