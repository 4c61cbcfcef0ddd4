"""The BERT-like relative: one stack that sees the whole sequence, under a head that says what is predicted."""

from torch import Tensor, nn

from headway.models.layers import Encoder
from headway.models.outputs import AttentionMaps
from headway.nn.embedding import InputLayer
from headway.nn.masks import padding_mask, real_tokens


class TokenHead(nn.Module):
    """A choice for every token: the hidden token itself, or a tag."""

    def __init__(self, output: nn.Linear) -> None:
        super().__init__()
        self.output = output

    def forward(self, states: Tensor, real: Tensor) -> Tensor:  # noqa: ARG002
        """(B, T, D) -> logits (B, T, V), or one a label in place of V."""
        return self.output(states)


class SentenceHead(nn.Module):
    """A choice for every sentence, from the mean of its tokens."""

    def __init__(self, output: nn.Linear) -> None:
        super().__init__()
        self.output = output

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """(B, T, D) -> logits (B, labels)."""
        weight = real[..., None].to(states.dtype)  # (B, T, 1)
        mean = (states * weight).sum(1) / weight.sum(1).clamp(min=1)  # (B, D)
        return self.output(mean)


class EncoderOnly(nn.Module):
    """Ids in, the logits of the head out."""

    def __init__(self, token_input: InputLayer, stack: Encoder, head: TokenHead | SentenceHead) -> None:
        super().__init__()
        self.input = token_input
        self.stack = stack
        self.head = head

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, T) -> logits (B, T, V), (B, T, labels) or (B, labels), as the head has it."""
        states, _ = self.states(tokens)
        return self.head(states, real_tokens(tokens))

    def states(self, tokens: Tensor, *, with_weights: bool = False) -> tuple[Tensor, AttentionMaps]:
        """The stack's output (B, T, D), before the head, and the attention weights if asked for."""
        real = real_tokens(tokens)
        states, weights = self.stack(self.input(tokens), padding_mask(real), real, with_weights=with_weights)
        return states, AttentionMaps(encoder=weights)
