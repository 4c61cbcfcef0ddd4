"""Texts -> scores: sacreBLEU with signature and interval, the paper's own BLEU, paired tests, what to read.

Nothing here knows a model. A *hypothesis* is what a system wrote, a *reference* what a person wrote; the lists align
line by line.
"""
