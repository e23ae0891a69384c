#!/bin/bash
# Plays a tournament on machines that can be reached by ssh, with GNU parallel, and merges what they have played.
#
#   necrodome tournament zombie-dice greedy ./mybot.py --blocks 100000 --plan-out plan.toml
#   necrodome pack plan.toml --out night.pack
#   ./ssh.sh night.pack night.store hosts          a line for each machine, such as `8/worker1` for eight shards at once
#
# The machines need necrodome, rsync and the interpreters of the bots; the pack travels with the jobs, and is removed in the end. A shard that
# fails is tried on another machine. Shards that have come stay in night.pack.shards: the same command plays what is missing.
# Flags are for `necrodome shard`, such as `--sandbox limits`. NECRODOME names the program on all machines; SHARD_BLOCKS says how many blocks a shard has, best some ten seconds' worth.
set -euo pipefail

pack="${1:?usage: ssh.sh PACK STORE HOSTS}" store="${2:?usage: ssh.sh PACK STORE HOSTS}" hosts="${3:?usage: ssh.sh PACK STORE HOSTS [FLAG...]}"
necrodome="${NECRODOME:-necrodome}"
pack="$(realpath "$pack")" store="$(realpath "$store")" hosts="$(realpath "$hosts")"

# Without --blocks, `shard` checks that this machine can play the plan, and says what there is to play.
plan="$("$necrodome" shard "$pack" --json "${@:4}")"
flags=""
[ $# -le 3 ] || flags="$(printf " %q" "${@:4}")"
of_plan() { [[ "$plan" =~ \"$1\":\ *([0-9]+) ]] || { echo "there is no \"$1\" in: $plan" >&2; exit 1; }; echo "${BASH_REMATCH[1]}"; }
# Parts are multiples of the blocks that programs are started for: `unit`.
first="$(of_plan first)"
end="$(of_plan blocks)"
unit="$(of_plan unit)"
size=$(((${SHARD_BLOCKS:-1024} + unit - 1) / unit * unit))

umask 077 # packs and shards have the secret of the dice
mkdir -p "$pack.shards"
cd "$pack.shards"
cp "$pack" this.pack
missing=()
for ((from = first; from < end; from += size)); do
    part="$from..$((from + size < end ? from + size : end))"
    [ -e "$part.shard" ] || missing+=("$part")
done
status=0
# A folder of this run alone on each machine; `--cleanup` removes what it had.
folder="necrodome-$(hostname)-$$"
[ ${#missing[@]} -eq 0 ] || parallel --will-cite --sshloginfile "$hosts" --workdir "$folder" --basefile this.pack --return '{}.shard' --cleanup \
    --retries 3 "umask 077; $(printf %q "$necrodome") shard this.pack --blocks {} --threads 1 --out {}.shard$flags" ::: "${missing[@]}" || status=$?
# What has come is merged, even if something is missing.
if compgen -G '*.shard' >/dev/null; then "$necrodome" merge "$store" ./*.shard; fi
exit "$status"
