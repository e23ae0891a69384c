#!/bin/bash
# Plays a tournament as a Slurm job array: each task plays its share of the blocks, and writes one shard.
#
#   necrodome tournament zombie-dice greedy ./mybot.py --blocks 100000 --plan-out plan.toml
#   necrodome pack plan.toml --out night.pack
#   job=$(sbatch --parsable --array=0-99 slurm.sh night.pack shards)
#   sbatch --dependency="afterok:$job" --wrap "necrodome merge night.store shards/*.shard"
#
# The pack and the folder of shards lie where all nodes see them. A task that comes again (--requeue) does nothing if its shard is there,
# so the same command plays what is missing. Flags are for `necrodome shard`, such as `--sandbox limits`. NECRODOME names the program, if it is not on the PATH of the nodes.
#SBATCH --job-name=necrodome
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -euo pipefail

pack="${1:?usage: sbatch --array=0-99 slurm.sh PACK FOLDER}" folder="${2:?usage: sbatch --array=0-99 slurm.sh PACK FOLDER [FLAG...]}"
necrodome="${NECRODOME:-necrodome}"
tasks="${SLURM_ARRAY_TASK_COUNT:?it runs as an array: sbatch --array=0-99}"
least="${SLURM_ARRAY_TASK_MIN:-0}" step="${SLURM_ARRAY_TASK_STEP:-1}"
number=$(((SLURM_ARRAY_TASK_ID - least) / step))
# Each task has its share by its number: a list with holes would leave blocks out.
[ "${SLURM_ARRAY_TASK_MAX:-$((least + (tasks - 1) * step))}" = $((least + (tasks - 1) * step)) ] ||
    { echo "the numbers of the array have holes: expected a range, such as --array=0-99 or --array=0-98:2" >&2; exit 2; }

# Without --blocks, `shard` checks that this machine can play the plan, and says what there is to play.
plan="$("$necrodome" shard "$pack" --json "${@:3}")"
of_plan() { [[ "$plan" =~ \"$1\":\ *([0-9]+) ]] || { echo "there is no \"$1\" in: $plan" >&2; exit 1; }; echo "${BASH_REMATCH[1]}"; }
# Parts are multiples of the blocks that programs are started for: `unit`.
first="$(of_plan first)"
end="$(of_plan blocks)"
unit="$(of_plan unit)"
units=$(((end - first + unit - 1) / unit))
from=$((first + units * number / tasks * unit)) to=$((first + units * (number + 1) / tasks * unit))
[ "$to" -le "$end" ] || to="$end"
[ "$from" -lt "$to" ] || exit 0

umask 077 # a shard has the secret of the dice
mkdir -p "$folder"
out="$folder/$from..$to.shard"
[ ! -e "$out" ] || exit 0
"$necrodome" shard "$pack" --blocks "$from..$to" --threads "${SLURM_CPUS_PER_TASK:-1}" --out "$out.$$" --force "${@:3}"
mv "$out.$$" "$out"
