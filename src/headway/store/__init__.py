"""Weights <-> disk: the run directory, its checkpoints and their averages. Only safetensors, JSON and TOML."""
