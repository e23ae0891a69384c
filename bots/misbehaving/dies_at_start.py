#!/usr/bin/env python3
"""Ends with exit code 3 at once, with a message on standard error."""

import sys

print("cannot find my brain", file=sys.stderr)
sys.exit(3)
