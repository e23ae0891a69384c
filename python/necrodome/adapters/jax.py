"""JAX: vector environments that take and return JAX arrays, without copies on the CPU (DLPack).

>>> from necrodome.adapters.jax import make_vec
>>> envs = make_vec("zombie-dice-solo", 4096, seed=1)
>>> observations, infos = envs.reset()
>>> observations, rewards, terminations, truncations, infos = envs.step(observations[:, 0] < 3)

The arrays of `necrodome.make_vec` support DLPack directly, too: `torch.from_dlpack(observations)`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorWrapper

from ..envs.vector import ArenaVectorEnv

__all__ = ["JaxVectorEnv", "as_jax", "make_vec"]


def make_vec(game: str, num_envs: int = 1, **options: Any) -> JaxVectorEnv:
    """Makes a vector environment like `necrodome.make_vec`, with JAX arrays.

    JAX arrays never change, so every step returns new arrays: `copy=False` is refused.
    """
    if not options.setdefault("copy", True):
        raise ValueError("JAX arrays never change: expected copy=True, got copy=False")
    return JaxVectorEnv(ArenaVectorEnv(game, num_envs, **options))


def as_jax(value: Any) -> Any:
    """Converts arrays, also those in dicts, into JAX arrays that share their memory where possible."""
    if isinstance(value, dict):
        return {name: as_jax(inner) for name, inner in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    if value.flags.writeable:
        return jnp.from_dlpack(value)
    return jnp.asarray(value)


class JaxVectorEnv(VectorWrapper):
    """A vector environment that takes and returns JAX arrays. The inner one must return fresh arrays (`copy=True`)."""

    def __init__(self, envs: ArenaVectorEnv) -> None:
        super().__init__(envs)
        self.envs = envs

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins new matches."""
        observations, infos = self.envs.reset(seed=seed, options=options)
        return as_jax(observations), as_jax(infos)

    def step(self, actions: jax.Array | npt.ArrayLike) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Plays an action in each row."""
        observations, rewards, terminations, truncations, infos = self.envs.step(np.asarray(actions))
        return (
            as_jax(observations),
            as_jax(rewards),
            as_jax(terminations),
            as_jax(truncations),
            as_jax(infos),
        )

    def action_masks(self) -> jax.Array:
        """The legal actions now: a row of flags for each row."""
        return jnp.asarray(self.envs.action_masks())
