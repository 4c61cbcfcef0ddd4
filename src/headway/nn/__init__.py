"""The parts of a Transformer, each small, each passed in where it is used.

Shapes, for the whole project; batch first:

    B  batch            D  model width         H  heads
    S  source length    F  feed-forward width  E  width of a head (d_k of queries and keys, d_v of values)
    T  target length    V  vocabulary          Q, K  number of queries, of keys
    N  beams
"""

import torch

# MKL's vector functions (exp, tanh, ...) choose their code on the first call of a process. When that call runs
# on several threads, now and then one of them takes the low-accuracy code, once, and a run no longer repeats
# bit for bit (docs/log.md, 2026-11-15). A first call that is too small for threads settles the choice.
torch.ones(1).exp()
