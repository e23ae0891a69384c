"""TorchRL: an environment with a batch of rows, whose specs contain the masks of legal actions.

>>> from torchrl.envs import TransformedEnv, ActionMask
>>> from necrodome.adapters.torchrl import ArenaTorchEnv
>>> env = TransformedEnv(ArenaTorchEnv("tokyo", 256, players=2, opponent="angry"), ActionMask())
>>> env.rollout(100, break_when_any_done=False)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from ._learners import make_learners

__all__ = ["ArenaTorchEnv"]


class ArenaTorchEnv(EnvBase):
    """A vector environment for TorchRL, of batch size `(num_envs,)`.

    `options` are those of `necrodome.make_vec`, except `autoreset_mode`: TorchRL itself resets the rows that have ended.
    Games of several seats need `opponent` or `opponents`. Observations are in `"observation"`, the legal actions in
    `"action_mask"`: with TorchRL's `ActionMask`, random actions and the action spec respect them.
    """

    def __init__(
        self, game: str, num_envs: int = 1, *, device: Any = None, seed: int | None = None, **options: Any
    ) -> None:
        if options.get("observation", "vector") != "vector":
            raise ValueError("a TorchRL environment has tensors of numbers: expected observation='vector'")
        self.envs = make_learners(game, num_envs, AutoresetMode.DISABLED, {**options, "seed": seed})
        rows = torch.Size([self.envs.num_envs])
        super().__init__(device=device, batch_size=rows)
        low, high = (torch.as_tensor(bound) for bound in _bounds(self.envs.single_observation_space))
        actions = int(self.envs.single_action_space.n)  # type: ignore[attr-defined]
        shape = (*rows, len(low))
        self.observation_spec = Composite(
            observation=Bounded(
                low.expand(shape), high.expand(shape), shape=shape, dtype=low.dtype, device=self.device
            ),
            action_mask=Binary(shape=(*rows, actions), dtype=torch.bool, device=self.device),
            shape=rows,
        )
        self.action_spec = Categorical(actions, shape=rows, dtype=torch.int64, device=self.device)
        self.reward_spec = Unbounded(shape=(*rows, 1), dtype=torch.float32, device=self.device)
        flag = Binary(shape=(*rows, 1), dtype=torch.bool, device=self.device)
        self.done_spec = Composite(
            done=flag.clone(), terminated=flag.clone(), truncated=flag.clone(), shape=rows
        )
        self._chosen_seed: int | None = None

    def _seen(self, observations: Any) -> dict[str, torch.Tensor]:
        masks = self.envs.action_masks()
        return {"observation": self._tensor(observations), "action_mask": self._tensor(masks)}

    def _tensor(self, array: Any) -> torch.Tensor:
        """Copies an array into a tensor, since the arrays may be overwritten."""
        return torch.tensor(np.ascontiguousarray(array), device=self.device)

    def _reset(self, tensordict: TensorDictBase | None = None, **words: Any) -> TensorDictBase:
        options = None
        if tensordict is not None and "_reset" in tensordict.keys():
            mask = tensordict["_reset"].reshape(self.batch_size)
            options = {"reset_mask": mask.cpu().numpy()}
        observations, _ = self.envs.reset(seed=self._chosen_seed, options=options)
        self._chosen_seed = None
        return TensorDict(self._seen(observations), batch_size=self.batch_size, device=self.device)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        actions = tensordict["action"].cpu().numpy()
        observations, rewards, terminations, truncations, _ = self.envs.step(actions)
        terminated, truncated = self._tensor(terminations), self._tensor(truncations)
        return TensorDict(
            {
                **self._seen(observations),
                "reward": self._tensor(rewards).unsqueeze(-1),
                "done": (terminated | truncated).unsqueeze(-1),
                "terminated": terminated.unsqueeze(-1),
                "truncated": truncated.unsqueeze(-1),
            },
            batch_size=self.batch_size,
            device=self.device,
        )

    def _set_seed(self, seed: int | None) -> None:
        """Sets the seed of the next reset."""
        self._chosen_seed = seed


def _bounds(space: Any) -> tuple[Any, Any]:
    return space.low, space.high
