"""A global integer that compiled programs read at run time: the number of the active bug.

XLA has no global variables, and an argument would have to pass through every function of a
candidate. Reading is therefore an operation of its own, called through XLA's foreign function
interface; the structures are those of its C API, xla/ffi/api/c_api.h, version 0.1.
"""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, Structure, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir

_TARGET = "twinstep_switch"
_METADATA_IS_ASKED = 1
_number = ctypes.c_int32(0)


class _Extension(Structure):
    """An optional extension of a call frame."""


_Extension._fields_ = [("size", c_size_t), ("kind", c_int), ("next", POINTER(_Extension))]


class _Version(Structure):
    _fields_ = [("size", c_size_t), ("next", c_void_p), ("major", c_int), ("minor", c_int)]


class _Metadata(Structure):
    _fields_ = [("size", c_size_t), ("version", _Version), ("traits", c_uint32)]


class _MetadataExtension(Structure):
    _fields_ = [("base", _Extension), ("metadata", POINTER(_Metadata))]


class _Buffer(Structure):
    _fields_ = [("size", c_size_t), ("next", c_void_p), ("dtype", c_int), ("data", c_void_p)]


class _Buffers(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("next", c_void_p),
        ("count", c_int64),
        ("kinds", c_void_p),
        ("buffers", POINTER(POINTER(_Buffer))),
    ]


class _Call(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extension", POINTER(_Extension)),
        ("api", c_void_p),
        ("context", c_void_p),
        ("stage", c_int),
        ("given", _Buffers),
        ("results", _Buffers),
    ]


@ctypes.CFUNCTYPE(c_void_p, POINTER(_Call))
def _read(call: Any) -> None:
    """Write the number into the call's result; None is success."""
    call = call.contents
    if call.extension and call.extension.contents.kind == _METADATA_IS_ASKED:
        extension = ctypes.cast(call.extension, POINTER(_MetadataExtension)).contents
        version = extension.metadata.contents.version
        version.major, version.minor = 0, 1
        return
    result = call.results.buffers[0].contents.data
    ctypes.memmove(result, ctypes.addressof(_number), ctypes.sizeof(_number))


@functools.cache
def _primitive() -> Primitive:
    """Return the operation; the first call creates it and registers it with XLA."""
    handler = jax.ffi.pycapsule(ctypes.cast(_read, c_void_p))
    jax.ffi.register_ffi_target(_TARGET, handler, platform="cpu")
    primitive = Primitive(_TARGET)
    primitive.def_impl(lambda: jnp.int32(_number.value))
    primitive.def_abstract_eval(lambda: ShapedArray((), np.dtype(np.int32)))
    mlir.register_lowering(primitive, jax.ffi.ffi_lowering(_TARGET, has_side_effect=False))
    return primitive


def switch(number: int) -> None:
    """Set the number for all programs, also those compiled earlier."""
    _number.value = number


def position() -> Any:
    """Return the number, i32[]; inside a trace, the number at the compiled program's run time."""
    return _primitive().bind()
