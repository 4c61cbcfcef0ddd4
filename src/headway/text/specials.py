"""The ids of the special tokens: the same in every vocabulary, so that no other room has to be told."""

SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>", "<mask>")
"""Their names, by id."""

PAD = 0
"""Fills the shorter rows of a batch; nothing attends to it and nothing is learned from it."""
BOS = 1
"""Stands before the first token of a target."""
EOS = 2
"""Stands after the last token of a sentence."""
UNK = 3
"""Stands for what a vocabulary cannot spell; ours can spell everything, vocabularies of others cannot."""
MASK = 4
"""Hides a token that is to be predicted."""
