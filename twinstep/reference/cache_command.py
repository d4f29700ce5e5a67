"""`twinstep cache`: list, verify or clear the recorded episodes; clear JAX's programs too."""

from __future__ import annotations

import argparse
from pathlib import Path

from twinstep._lib import paths
from twinstep.reference import locks
from twinstep.reference.cache import CacheEntry, TraceCache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    what = ("list", "verify", "clear", "path")
    parser.add_argument("what", choices=what, nargs="?", default="list")
    parser.add_argument("--drop", action="store_true", help="verify: remove what is damaged")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; return 1 if an entry is damaged, else 0."""
    cache = TraceCache()
    if args.what == "path":
        print(cache.root.parent)
        return 0
    if args.what == "clear":
        return _clear(cache)
    return _verify(cache, args.drop) if args.what == "verify" else _list(cache)


def _list(cache: TraceCache) -> int:
    held = cache.entries()
    for entry in held:
        print(f"{_name(entry)}  {entry.size / 1e6:9.1f} MB  {_what(entry)}")
    total = sum(entry.size for entry in held)
    print(f"{len(held)} trace sets, {total / 1e6:.1f} MB in {cache.root}")
    if programs := _programs():
        size = sum(path.stat().st_size for path in programs)
        print(f"{len(programs)} programs that JAX compiled, {size / 1e6:.1f} MB")
    if left := locks.left(cache.root):
        size = sum(locks.size_of(path) for path in left)
        print(
            f"{len(left)} left by runs that were killed, {size / 1e6:.1f} MB: twinstep cache clear"
        )
    return 0


def _verify(cache: TraceCache, drop: bool) -> int:
    damaged, held = 0, cache.entries()
    for entry in held:
        problem = cache.damage(entry.key)
        if problem:
            damaged += 1
            if drop:
                cache.drop(entry.key)
            print(f"{_name(entry)}  damaged: {problem}{'; dropped' if drop else ''}")
        else:
            print(f"{_name(entry)}  whole: {_what(entry)}")
    print(f"{len(held)} trace sets, {damaged} damaged")
    if damaged and not drop:
        print("A damaged set is recorded again when it is next used; --drop removes it now.")
    return 1 if damaged else 0


def _clear(cache: TraceCache) -> int:
    held = cache.entries()
    for entry in held:
        cache.drop(entry.key)
    left, programs = locks.collect_garbage(cache.root), _programs()
    for path in programs:
        path.unlink(missing_ok=True)
    parts = [f"{len(held)} trace sets"]
    parts += [f"{len(programs)} compiled programs"] if programs else []
    parts += [f"{left} left by killed runs"] if left else []
    print(f"dropped {', '.join(parts)}")
    return 0


def _programs() -> list[Path]:
    found = paths.compiled_dir().glob("*")
    return [path for path in found if path.is_file() and path.name.endswith(("-cache", "-atime"))]


def _name(entry: CacheEntry) -> str:
    return entry.key[:12]


def _what(entry: CacheEntry) -> str:
    words = [str(entry.parts.get(name, "?")) for name in ("environment", "driver", "episodes")]
    return "{} {}, {} episodes".format(*words)
