"""The instruction set that batches are stepped with is what was asked for, or an error."""

from __future__ import annotations

import os
import subprocess
import sys


def run(code: str, instructions: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NECRODOME_INSTRUCTIONS": instructions}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)


def test_the_least_that_all_machines_have_can_be_chosen() -> None:
    done = run("import necrodome; print(necrodome.instruction_set())", "scalar")
    assert done.stdout.strip() in ("sse2", "scalar"), done.stderr


def test_an_instruction_set_that_there_is_not_is_refused() -> None:
    for code in ("necrodome.instruction_set()", "necrodome.make_vec('tokyo', num_envs=2)"):
        done = run(f"import necrodome; {code}", "avx9")
        assert "ValueError: expected NECRODOME_INSTRUCTIONS to be one of" in done.stderr
        assert 'got "avx9": unset it to use the best' in done.stderr
