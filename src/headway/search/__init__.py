"""Log-probabilities -> tokens -> text: how a trained model writes.

Search knows no model. It is given `start` and `step` (`steps.py`), and everything that can be asked of those two is
here: greedy and beam search, sampling, outputs that must begin with or contain given words, the score of a given
output, what else could have come at a position, several models as one. `translator.py` puts text around it.
"""
