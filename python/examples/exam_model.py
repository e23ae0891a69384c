"""What do the decisions of a local language model cost? An exam, with bots as lines in the same table.

Start llama.cpp's server first (`llama-server -m MODEL.gguf --port 8080`), or any other that speaks OpenAI's
chat protocol.
"""

# %% The model: a table in a file. Prices are those of your own machine
import os
import tempfile
from pathlib import Path

import necrodome

URL = os.environ.get("MODEL_URL", "http://127.0.0.1:8080/v1")
folder = tempfile.TemporaryDirectory()
models = Path(folder.name) / "models.toml"
models.write_text(f"""
[models.local]
base_url = "{URL}"
model = "{os.environ.get("MODEL", "local")}"
prompt = "short"
input_price = 0
output_price = 0
parameters = {{ max_tokens = 1000, temperature = 0 }}
""")

# %% The exam: the same questions for everybody, each answer priced exactly
POSITIONS = int(os.environ.get("POSITIONS", 60))
entries = ["llm:local", "random", "greedy", "optimal"]
result = necrodome.exam("zombie-dice-race", *entries, positions=POSITIONS, models=models)
print(result)

# %% Its worst answers, with its own reason beside the truth
local = next(entry for entry in result["entries"] if entry["name"] == "local")
for answer in local["worst"][:3]:
    print(answer)
folder.cleanup()
