#!/usr/bin/env python3
"""Never says `ready`."""

import json
import sys

for line in sys.stdin:
    json.loads(line)  # reads and understands, but does not answer
