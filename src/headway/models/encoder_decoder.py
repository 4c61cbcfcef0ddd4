"""The paper's model: an encoder reads the source, a decoder writes the target (section 3.1, Figure 1)."""

import torch
from torch import Tensor, nn

from headway.models.layers import Decoder, Encoder
from headway.models.outputs import AttentionMaps, DecodingState
from headway.nn.cache import FixedCache, GrowingCache
from headway.nn.embedding import InputLayer
from headway.nn.masks import padding_mask, real_tokens


class EncoderDecoder(nn.Module):
    """Source and target ids in, logits of the next target token out."""

    def __init__(
        self,
        source_input: InputLayer,
        encoder: Encoder,
        target_input: InputLayer,
        decoder: Decoder,
        output: nn.Linear,
    ) -> None:
        super().__init__()
        self.source_input = source_input
        self.encoder = encoder
        self.target_input = target_input
        self.decoder = decoder
        self.output = output

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Source (B, S) and target shifted right (B, T) -> logits (B, T, V)."""
        states, _ = self.states(source, target)
        return self.output(states)

    def states(self, source: Tensor, target: Tensor, *, with_weights: bool = False) -> tuple[Tensor, AttentionMaps]:
        """The decoder's output (B, T, D), before the output matrix, and the attention weights if asked for."""
        memory, mask, encoder = self.encode(source, with_weights=with_weights)
        # Padding of the target stands after its tokens: the causal pattern already hides it from them.
        states, decoder, cross = self.decoder(
            self.target_input(target), memory, mask, real_tokens(target), with_weights=with_weights
        )
        return states, AttentionMaps(encoder, decoder, cross)

    def encode(self, source: Tensor, *, with_weights: bool = False) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Source (B, S) -> memory (B, S, D), its mask (B, 1, 1, S), and the weights if asked for."""
        real = real_tokens(source)
        mask = padding_mask(real)
        memory, weights = self.encoder(self.source_input(source), mask, real, with_weights=with_weights)
        return memory, mask, weights

    def start(self, source: Tensor) -> DecodingState:
        """Read the source (B, S); the first step is then given BOS."""
        memory, mask, _ = self.encode(source)
        known = [FixedCache(*keys_values) for keys_values in self.decoder.keys_values(memory)]
        return DecodingState(0, [GrowingCache() for _ in known], known, mask)

    def step(self, tokens: Tensor, state: DecodingState) -> tuple[Tensor, DecodingState]:
        """The newest token of each row (B,) or beam (B, N) -> log-probabilities of the next one, and the new state."""
        caches, after = state.advance()
        embedded = self.target_input(tokens.reshape(-1, 1), state.position)  # (B N, 1, D): all at one position
        x, _, _ = self.decoder(
            embedded.view(len(tokens), -1, embedded.size(-1)),  # (B, N, D)
            None,
            state.memory_mask,
            None,
            caches=list(zip(caches, state.cross_caches, strict=True)),
        )
        log_probabilities = torch.log_softmax(self.output(x), dim=-1)  # (B, N, V)
        return log_probabilities.view(*tokens.shape, -1), after
