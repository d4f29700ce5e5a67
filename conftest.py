"""Repository policy only: JAX's strict flags and the Hypothesis profiles."""

import os

import jax
from hypothesis import HealthCheck, settings

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

_common = {
    # Compilation happens inside an example.
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "report_multiple_bugs": False,
}
settings.register_profile("dev", max_examples=25, **_common)
settings.register_profile(
    "ci", max_examples=100, derandomize=True, print_blob=True, database=None, **_common
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
