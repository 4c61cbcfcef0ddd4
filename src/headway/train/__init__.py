"""Batches and a model -> weights."""
