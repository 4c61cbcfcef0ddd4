"""Text files <-> token ids. This room does not import torch."""
