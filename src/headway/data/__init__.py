"""Token ids -> arrays on disk -> batches: prepared once, shuffled anew each epoch, resumable at any batch.

Shapes as in `headway.nn`. A *pair* is a source sentence and a target sentence; it is known by its number.
"""
