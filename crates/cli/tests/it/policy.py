"""Reads the policies in a folder with nothing but the standard library, and prints some of their numbers."""

import ast, json, math, struct, sys, zipfile

FORMATS = {"|u1": "B", "<u2": "H", "<f8": "d"}


def load(name):
    arrays = {}
    with zipfile.ZipFile(f"{sys.argv[1]}/{name}.npz") as archive:
        for member in archive.namelist():
            data = archive.read(member)
            assert data[:6] == b"\x93NUMPY", member
            start = 10 + struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10:start].decode())
            assert not header["fortran_order"], member
            values = struct.unpack(f"<{math.prod(header['shape'])}{FORMATS[header['descr']]}", data[start:])
            arrays[member.removesuffix(".npy")] = (header["shape"], values)
    return arrays


def at(array, *index):
    shape, values = array
    place = 0
    for size, i in zip(shape, index, strict=True):
        assert 0 <= i < size
        place = place * size + i
    return values[place]


solo, race, table, tokyo = (load(name) for name in ["solo", "race", "table", "tokyo"])
states = [tuple(solo["states"][1][i : i + 8]) for i in range(0, len(solo["states"][1]), 8)]
start = states.index((0, 0, 6, 4, 3, 0, 0, 0))
assert at(solo["roll"], 0, start) == 1, "the first roll costs nothing"
# Two shotguns and seven brains: nobody rolls for more.
danger = states.index((7, 2, 2, 1, 1, 0, 0, 0))
assert at(solo["roll"], 0, danger) == 0
assert at(race["roll"], 0, 12, 0, start) == 1
# With one brain a player at 12 wins at once.
assert at(race["roll"], 12, 12, 0, states.index((1, 0, 5, 3, 2, 1, 1, 0))) == 0
assert abs(sum(solo["score_probability"][1]) - 1) < 1e-9

handfuls = [tuple(tokyo["handfuls"][1][i : i + 5]) for i in range(0, len(tokyo["handfuls"][1]), 5)]
assert tokyo["keep"][0] == (2, 20, 20, 10, 10, 2, 210), tokyo["keep"][0]
# At 17 points outside, three threes win: with three of them all are kept.
threes = handfuls.index((1, 1, 3, 1, 0))
kept = handfuls[at(tokyo["keep"], 1, 17, 0, 9, 9, 1, threes)]
assert kept[2] == 3, kept
# With one health left and the attacker healthy, who is hit leaves; what is kept is part of what was rolled.
assert at(tokyo["leave"], 0, 0, 0, 9) == 1
for full in range(210):
    kept = handfuls[at(tokyo["first_turn_keep"], 0, full)]
    assert all(k <= f for k, f in zip(kept, handfuls[full])), (kept, handfuls[full])

print(json.dumps({
    "race_value": at(race["value"], 7, 9),
    "solo_value": at(solo["value"]),
    "table_second_value": at(table["second_value"], 3, 4),
    "tokyo_first_turn_value": at(tokyo["first_turn_value"]),
}))
