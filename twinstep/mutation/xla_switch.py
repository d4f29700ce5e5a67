"""A whole number that compiled programs read when they run: which planted bug is on.

XLA has no such variable, and an argument would have to pass through every function of a candidate.
So reading it is an operation of its own, which XLA calls through its foreign function interface;
the structures are those of its C API, xla/ffi/api/c_api.h, version 0.1.
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
    """What a call frame may begin with."""


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
        asked = ctypes.cast(call.extension, POINTER(_MetadataExtension)).contents
        version = asked.metadata.contents.version
        version.major, version.minor = 0, 1
        return
    result = call.results.buffers[0].contents.data
    ctypes.memmove(result, ctypes.addressof(_number), ctypes.sizeof(_number))


@functools.cache
def _primitive() -> Primitive:
    """Return the operation, made at its first use: it is registered with XLA then."""
    handler = jax.ffi.pycapsule(ctypes.cast(_read, c_void_p))
    jax.ffi.register_ffi_target(_TARGET, handler, platform="cpu")
    made = Primitive(_TARGET)
    made.def_impl(lambda: jnp.int32(_number.value))
    made.def_abstract_eval(lambda: ShapedArray((), np.dtype(np.int32)))
    mlir.register_lowering(made, jax.ffi.ffi_lowering(_TARGET, has_side_effect=False))
    return made


def switch(number: int) -> None:
    """Have programs read this number from now on, those that were compiled before too."""
    _number.value = number


def position() -> Any:
    """Return the number, i32[]: inside a trace what it is when the compiled program runs."""
    return _primitive().bind()
