"""One training run in a folder, which resumes from its last checkpoint bit for bit.

A compiled environment's state is part of the checkpoint. Any other environment is restored by
replaying the same actions from the same seeds, which works in every backend, the reference too.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from twinstep._lib import memory, paths
from twinstep.errors import UserError
from twinstep.rl.ppo import Trainer
from twinstep.rl.sharding import mesh_of, whole
from twinstep.rl.training import checkpoint_header, checkpoints
from twinstep.rl.training.action_log import Logged
from twinstep.rl.training.arenas import arena_of
from twinstep.rl.training.distributed import agreed
from twinstep.rl.training.metrics import Metrics
from twinstep.rl.training.policy_player import POLICY
from twinstep.rl.training.settings import TrainingSettings

#: Lock file of a running process.
LOCK = ".lock"


class Done(NamedTuple):
    """The result of a run. batches, steps: of each policy. seconds: of this process. speed:
    environment steps per second of all policies (SPS), without the first batches, which compile;
    NaN if there are no others. params: name -> f32[S, ...]. returns: f64[S], mean return of the
    latest episodes, NaN if none ended.
    """

    batches: int
    steps: int
    seconds: float
    speed: float
    params: dict[str, np.ndarray]
    returns: np.ndarray


def require_new(folder: Path) -> None:
    """UserError if the folder of a new run is not empty, or cannot be created."""
    # A process that was interrupted before its first batch leaves a lock.
    if folder.exists() and not (folder.is_dir() and {p.name for p in folder.iterdir()} <= {LOCK}):
        raise UserError(
            f"{folder} is not empty: choose another --out, or go on with --resume {folder}"
        )
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not paths.writable(there):
        raise UserError(f"{folder} cannot be written to: choose another --out")


def train(
    folder: Path,
    settings: TrainingSettings,
    progress: Callable[[str], None],
    every: float,
    devices: int = 1,
    new: bool = False,
) -> Done:
    """Train until the settings' steps are done, from the folder's checkpoint if there is one.

    every: least seconds between two checkpoints; their times do not affect the training. devices:
    see sharding.mesh_of. new: True if the folder must be empty; it stays as it was if the run
    cannot begin. UserError if the checkpoint does not match, numbers are no longer finite, or
    memory does not suffice; the last checkpoint stays.
    """
    if new:
        require_new(folder)
    arena = arena_of(settings)
    try:
        run = _Run(folder, settings, arena, progress, every, devices)
        run.require_memory()
        with _alone(folder, new):
            return run.train()
    except MemoryError as error:
        raise _too_little(settings, str(error)) from error
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise _too_little(settings, str(error)) from error
    finally:
        arena.close()


class _Run:
    def __init__(
        self,
        folder: Path,
        settings: TrainingSettings,
        arena: Any,
        progress: Callable[[str], None],
        every: float,
        devices: int,
    ) -> None:
        self._folder, self._settings, self._progress = folder, settings, progress
        self._every = every
        self._path = folder / "checkpoint.npz"
        self._log = None if arena.traceable else Logged(arena, folder / "actions.bin")
        played: Any = self._log or arena
        self._mesh = mesh = mesh_of(devices, len(settings.seeds), settings.ppo.lanes)
        self._trainer = Trainer(played, settings.ppo, mesh)
        self._size = settings.ppo.lanes * settings.ppo.steps
        self._head = checkpoint_header.head(settings, arena, mesh.size if mesh else 1)

    def require_memory(self) -> None:
        """MemoryError if a batch and the policies do not fit.

        Linux would kill the process later. An accelerator reports it by itself.
        """
        if self._log is None and jax.default_backend() != "cpu":
            return
        free = memory.available()
        needed = self._trainer.least_bytes(len(self._settings.seeds)) / jax.process_count()
        if free is not None and needed > free:
            raise MemoryError(f"{needed / 1e9:,.1f} GB are needed, {free / 1e9:,.1f} GB are free")

    def train(self) -> Done:
        with self._trainer.precision(), contextlib.ExitStack() as stack:
            if self._log:
                stack.callback(self._log.close)
            learner, player = self._trainer.begin(list(self._settings.seeds))
            done = 0
            curve = ""
            if self._path.exists():
                learner, player, done, curve = self._restored(learner, player)
            elif (self._folder / POLICY).exists():
                raise UserError(
                    f"{self._folder} holds a policy and no checkpoint to go on from: begin anew, "
                    "in another folder"
                )
            learner, player = self._trainer.spread(learner, player)
            metrics = Metrics(self._folder, self._settings.seeds, self._size, done, curve)
            stack.callback(metrics.close)
            # The steps may have been raised; a run that cannot resume keeps its old settings.
            text = self._settings.toml().encode()
            paths.write_atomically(self._folder / "settings.toml", text)
            return self._until_done(learner, player, done, metrics)

    def _until_done(self, learner: Any, player: Any, done: int, metrics: Metrics) -> Done:
        first, begin = done, time.perf_counter()
        saved, clock, timed = begin, begin, 0
        seconds, policies = 0.0, len(self._settings.seeds)
        while done < self._settings.batches:
            learner, player, rows = self._trainer.advance(learner, player)
            done += self._trainer.together
            self._require_finite(rows, done)
            now = time.perf_counter()
            speed = self._size * self._trainer.together * policies / (now - clock)
            if done > first + self._trainer.together:
                timed, seconds = timed + self._trainer.together, seconds + now - clock
            clock = now
            metrics.add(rows, speed)
            if agreed(now - saved > self._every or done >= self._settings.batches):
                metrics.flush()
                self._save(learner, player, done, metrics.digest)
                saved = time.perf_counter()
            self._progress(
                f"batch {done} of {self._settings.batches}, {done * self._size:,} steps, "
                f"{speed:,.0f} a second, return {mean_return(metrics.returns):.3g}"
            )
        speed = timed * self._size * policies / seconds if timed else np.nan
        whole_params = whole(learner.params, self._mesh)
        params = {name: np.array(values) for name, values in whole_params.items()}
        taken = time.perf_counter() - begin
        return Done(done, done * self._size, taken, speed, params, metrics.returns)

    def _save(self, learner: Any, player: Any, done: int, curve: str) -> None:
        # A batch's statistics are from before its last update.
        self._require_finite({"policy": whole(learner.params, self._mesh)}, done)
        head = {**self._head, "batches": done, "curve": curve}
        if self._log:
            self._log.flush()
            head["actions"] = self._log.digest
            player = player._replace(env=None)
        checkpoints.write(self._path, head, whole((learner, player), self._mesh))

    def _restored(self, learner: Any, player: Any) -> tuple[Any, Any, int, str]:
        """Return the checkpoint's learner and player, its batches and its curve's hash."""
        head = checkpoints.head_of(self._path)
        checkpoint_header.require_same(self._path, head, self._head)
        done, curve, digest = (head.get(name) for name in ("batches", "curve", "actions"))
        if type(done) is not int or type(curve) is not str or (self._log and digest is None):
            raise UserError(f"{self._path} is not as a run writes it: begin anew")
        if not self._log:
            return *checkpoints.read(self._path, (learner, player)), done, curve
        learner, saved = checkpoints.read(self._path, (learner, player._replace(env=None)))
        if done >= self._settings.batches:
            return learner, saved, done, curve  # No more steps follow.
        steps = done * self._settings.ppo.steps
        seeds, lanes = saved.obs.shape[:2]
        states, shown = self._log.again(
            player.env, seeds * lanes, steps, str(digest), self._progress
        )
        parts = [np.asarray(now.obs).reshape(seeds, lanes // len(shown), -1) for now in shown]
        if not np.array_equal(np.concatenate(parts, 1).astype(np.float32), saved.obs, True):
            raise UserError(
                f"the same actions no longer lead to what {self._path} holds: the environment "
                "behaves otherwise than when the run was begun; begin anew"
            )
        return learner, saved._replace(env=states), done, curve

    def _require_finite(self, rows: dict[str, Any], done: int) -> None:
        leaves = [(n, leaf) for n, v in rows.items() for leaf in jax.tree.leaves(v)]
        bad = {n for n, leaf in leaves if n != "return" and not np.isfinite(leaf).all()}
        if bad:
            remains = "the checkpoint before stands" if self._path.is_file() else "nothing was kept"
            raise UserError(
                f"{', '.join(sorted(bad))} is no longer finite at batch {done}: lower "
                f"`learning_rate` or `norm` in [ppo] and begin anew ({remains})"
            )


def mean_return(returns: np.ndarray) -> float:
    """Return the mean over the policies with a finished episode; NaN if there is none."""
    finished = returns[~np.isnan(returns)]
    return float(finished.mean()) if len(finished) else math.nan


@contextlib.contextmanager
def _alone(folder: Path, new: bool = False) -> Iterator[None]:
    """Lock the folder; UserError if another process trains in it, or, with `new`, has done so."""
    path = folder / LOCK
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = path.open("w")
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror})") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(
                f"another process trains in {folder}: wait for it, or end it"
            ) from error
        if new and (folder / "settings.toml").exists():
            raise UserError(f"another run was begun in {folder}: choose another --out")
        yield


def _too_little(settings: TrainingSettings, problem: str) -> UserError:
    ppo = settings.ppo
    return UserError(
        f"memory does not suffice for {len(settings.seeds)} seeds x {ppo.lanes} lanes x "
        f"{ppo.steps} steps ({problem.splitlines()[0][:200]}): fewer seeds, or smaller `lanes` or "
        "`hidden` in [ppo]; what was trained so far is kept"
    )
