"""The arena for zombie games."""
