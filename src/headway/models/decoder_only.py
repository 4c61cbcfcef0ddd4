"""The GPT-like relative: one causal stack that continues a sequence."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from headway.errors import UserError
from headway.models.layers import Encoder
from headway.models.outputs import AttentionMaps, DecodingState
from headway.nn.cache import GrowingCache
from headway.nn.embedding import InputLayer
from headway.nn.masks import real_tokens


class DecoderOnly(nn.Module):
    """Ids in, logits of the next token out. Its layers are encoder layers with a causal pattern."""

    def __init__(self, token_input: InputLayer, stack: Encoder, output: nn.Linear) -> None:
        super().__init__()
        self.input = token_input
        self.stack = stack
        self.output = output

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, T) -> logits (B, T, V) of the token after each."""
        states, _ = self.states(tokens)
        return self.output(states)

    def states(self, tokens: Tensor, *, with_weights: bool = False) -> tuple[Tensor, AttentionMaps]:
        """The stack's output (B, T, D), before the output matrix, and the attention weights if asked for."""
        # Padding stands after the tokens: the causal pattern already hides it from them.
        states, weights = self.stack(self.input(tokens), None, real_tokens(tokens), with_weights=with_weights)
        return states, AttentionMaps(decoder=weights)

    def start(self, prefix: Tensor) -> DecodingState:
        """Read what stands before the first step's token: (B, P), P may be 0, all rows equally long."""
        if not bool(real_tokens(prefix).all()):
            raise UserError(
                "a prefix contains padding, but the prefixes of a batch must be equally long; "
                "give what they have in common and pass the rest token by token"
            )
        state = DecodingState(0, [GrowingCache() for _ in self.stack.layers])
        if prefix.size(1):
            self.stack(self.input(prefix), None, None, caches=state.self_caches)
        return replace(state, position=prefix.size(1))

    def step(self, tokens: Tensor, state: DecodingState) -> tuple[Tensor, DecodingState]:
        """The newest token of each row (B,) or beam (B, N) -> log-probabilities of the next one, and the new state."""
        caches, after = state.advance()
        embedded = self.input(tokens.reshape(-1, 1), state.position)  # (B N, 1, D): all at one position
        x, _ = self.stack(embedded.view(len(tokens), -1, embedded.size(-1)), None, None, caches=caches)  # (B, N, D)
        log_probabilities = torch.log_softmax(self.output(x), dim=-1)  # (B, N, V)
        return log_probabilities.view(*tokens.shape, -1), after
