"""Pictures of a model: the attention page, statistics of heads, and the plots that readers of the paper look for."""
