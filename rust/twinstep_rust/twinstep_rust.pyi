"""Types of the Rust module: one section per face file."""

import numpy as np

def version() -> str:
    """Version of the module, the same as the wheel's."""

def sources(engine: str = "") -> str:
    """Hash of the sources it was built from; of one engine's own and the common ones if named."""

# emurust.rs

class EmuRustPlay:
    """How Game Boys are played, the same for all of a batch. A place in memory: (address, bytes).

    reward: parts (kind, places, weight), added up in this order; "change" and "bits" have one
    place, "new" has any number. done: ends an episode when it is not 0. buttons: action -> bits of
    the buttons held. observe: "full", "half" or places, whose bytes are shown in a row. seed: where
    a start's number is poked, `seed_frame` frames after the hand-over. start_frames: frames from
    the hand-over to an episode's first one, and up to `waits - 1` further ones. record: (name,
    elements, dtype) of the fields of a machine's state, in order.
    """

    def __init__(
        self,
        *,
        reward: list[tuple[str, list[tuple[int, int]], float]],
        done: tuple[int, int] | None,
        buttons: list[int],
        observe: str | list[tuple[int, int]],
        frame_skip: int,
        max_episode_steps: int,
        seed: tuple[int, int] | None,
        seed_frame: int,
        start_frames: int,
        waits: int,
        record: list[tuple[str, int, str]],
    ) -> None: ...

class EmuRustBatch:
    """N Game Boys. Wrong shapes, dtypes, names, cartridges and states raise ValueError.

    Fields to write: `obs` and `final_obs` u8, `reward` f32, `terminated` and `truncated` bool,
    `elapsed` i32, `seen` u8, and those of the record; each a contiguous array, none twice.

    `auto_reset` says when a lane whose episode ended begins the next: "off", not by itself.
    "same-step": `reward`, `terminated`, `truncated` and `final_obs` are the step's own, the other
    fields those after the reset. "next-step": the lane does not play that step; its frame is the
    new episode's first. The seed (a, b) of an episode is followed by (a, b + 1).
    """

    lanes: int
    #: Of the lane that takes most, besides the ROM and its decoded code, which lanes share.
    bytes_per_lane: int
    seed: np.ndarray

    @staticmethod
    def reset(play: EmuRustPlay, roms: np.ndarray, seeds: np.ndarray) -> EmuRustBatch:
        """Begins one episode per seed, u32[N, 2]. roms: u8[1, bytes], or one for each."""

    @staticmethod
    def load(
        play: EmuRustPlay,
        roms: np.ndarray,
        records: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        seeds: np.ndarray | None = None,
    ) -> EmuRustBatch:
        """Continues from states: records u8[N, bytes], and `elapsed` and `seen` in fields."""

    def copy(self) -> EmuRustBatch:
        """Returns lanes that go on apart from these."""

    def write(self, fields: dict[str, np.ndarray]) -> None:
        """Writes fields [N, ...] of the present frame."""

    def step(
        self,
        actions: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        auto_reset: str = "off",
    ) -> None:
        """Plays one step with actions i32[N] and writes fields [N, ...]."""

    def rollout(
        self,
        actions: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        auto_reset: str = "off",
    ) -> None:
        """Plays T steps with actions i32[T, N] and writes fields [T, N, ...] of the frames."""

def emurust_instructions(rom: bytes, frames: int, seed: int) -> int:
    """Instructions in so many frames of a cartridge, waiting loops included, HALT not."""

# halfcheetah.rs

class HalfCheetahBatch:
    """N cheetahs, in "float32" or "float64". Wrong shapes, dtypes and names raise ValueError.

    Fields to write: `obs` and `final_obs` [..., 17], `qpos`, `qvel` and `qacc_warmstart` [..., 9]
    and `reward` in the batch's dtype, `truncated` bool, `elapsed` i32; each a contiguous array,
    none twice.

    `auto_reset` says when a lane whose episode ended begins the next: "off", not by itself.
    "same-step": `reward`, `truncated` and `final_obs` are the step's own, the other fields those
    after the reset. "next-step": the lane does not play that step; its frame is the new episode's
    first. The seed (a, b) of an episode is followed by (a, b + 1).
    """

    lanes: int
    isa: str
    seed: np.ndarray

    @staticmethod
    def reset(seeds: np.ndarray, *, dtype: str, max_episode_steps: int) -> HalfCheetahBatch:
        """Begins one episode per seed, u32[N, 2]."""

    @staticmethod
    def load(
        fields: dict[str, np.ndarray],
        *,
        dtype: str,
        max_episode_steps: int,
        seeds: np.ndarray | None = None,
    ) -> HalfCheetahBatch:
        """Continues from the fields of a frame's state, [N, ...] each; others are ignored."""

    def copy(self) -> HalfCheetahBatch:
        """Returns lanes that go on apart from these."""

    def write(self, fields: dict[str, np.ndarray]) -> None:
        """Writes fields [N, ...] of the present frame."""

    def step(
        self,
        actions: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        auto_reset: str = "off",
    ) -> None:
        """Plays one step with actions f32[N, 6] and writes fields [N, ...]."""

    def rollout(
        self,
        actions: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        auto_reset: str = "off",
    ) -> None:
        """Plays T steps with actions f32[T, N, 6] and writes fields [T, N, ...] of the frames."""

def halfcheetah_call(
    module: str, inputs: dict[str, np.ndarray], dtype: str
) -> dict[str, np.ndarray]:
    """Evaluates one module on inputs f64[N, ...] (seed: u32[N, 2]); outputs by name, in `dtype`."""

def halfcheetah_isa() -> str:
    """What batches compute with: "portable", "avx2" or "avx512"; TWINSTEP_ISA names another."""

# pong.rs

class PongBatch:
    """N games of Pong. Wrong shapes, dtypes and names raise ValueError.

    Fields to write: `obs` and `final_obs` f32[..., 8], `reward` f32, `terminated` bool, and
    those of the state by the contract's names; each a contiguous array, none twice.

    `auto_reset` says when a game that ended begins its next episode: "off", not by itself.
    "same-step": `reward`, `terminated` and `final_obs` are the step's own, the other fields
    those after the restart. "next-step": the game does not play that step; its frame is the
    new episode's first.
    """

    lanes: int

    @staticmethod
    def reset(
        seeds: np.ndarray,
        *,
        frameskip: int,
        continuous: bool,
        max_score: int,
        tables: np.ndarray | None = None,
    ) -> PongBatch:
        """Begins one episode per seed, u32[N, 2]; `tables` u32[N, K] are recorded draws."""

    @staticmethod
    def load(
        fields: dict[str, np.ndarray], *, frameskip: int, continuous: bool, max_score: int
    ) -> PongBatch:
        """Continues from the fields of a frame's state, [N, ...] each; others are ignored."""

    def copy(self) -> PongBatch:
        """Returns games that go on apart from these."""

    def restart(self) -> None:
        """Begins the next episode in every game, as the reference does after a terminal step."""

    def write(self, fields: dict[str, np.ndarray]) -> None:
        """Writes fields [N, ...] of the present frame."""

    def step(
        self,
        actions: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        auto_reset: str = "off",
    ) -> None:
        """Plays one step with actions [N], i32 or f32, and writes fields [N, ...]."""

    def rollout(
        self,
        actions: np.ndarray,
        fields: dict[str, np.ndarray],
        *,
        auto_reset: str = "off",
    ) -> None:
        """Plays T steps with actions [T, N] and writes fields [T, N, ...] of the frames."""

def pong_call(
    module: str, inputs: dict[str, np.ndarray], continuous: bool, max_score: int
) -> dict[str, np.ndarray]:
    """Evaluates one module on inputs [N] and returns its outputs [N] (`obs`: [N, 8]) by name."""
