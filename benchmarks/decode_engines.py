"""An engine of decode_speed.py, alone in its process: lines of JSON come in, a line goes out for each.

The first line says what to load. The others have sentences; the answer has the translations and the seconds that they
took. Nothing is imported that the engine does not need: torch and CTranslate2 disturb each other's threads, and Hugging
Face's environment need not have Headway.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

Translate = Callable[[list[Any]], list[Any]]
Search = Callable[[list[list[str]]], list[list[str]]]
EXTRA_LENGTH = 50
"""How many tokens longer than a source an output may be; Headway's default."""
ALPHA = 0.6
"""The length penalty that all engines have: the number of tokens to this power."""


def headway(run: str, beam: int, batch_tokens: int | None, **wishes: Any) -> Translate:
    """What `headway translate` runs: texts -> pairs of a text and its number of tokens."""
    from headway.tasks.translating import Order

    workers, patience = wishes.pop("workers", None), wishes.pop("patience", None)
    settings = (
        *([f"search.patience={patience}"] if patience else []),
        f"search.beam={beam}",
        *([f"search.batch_tokens={batch_tokens}"] if batch_tokens else []),
        "search.penalty=power",
        f"search.alpha={ALPHA}",
    )
    translator = Order(run, settings=settings, probabilities=False, **wishes).load(workers)

    def translate(texts: list[str]) -> list[tuple[str, int]]:
        return [(each.text, len(each.tokens) + each.finished) for each in translator.translate(texts)]

    return translate


def ctranslate2_tokens(directory: str, beam: int, batch: int, patience: float = 1, **threads: int) -> Search:
    """CTranslate2 itself: names of tokens -> the same, EOS left out."""
    from ctranslate2 import Translator

    translator = Translator(directory, **threads)

    def search(sentences: list[list[str]]) -> list[list[str]]:
        results = translator.translate_batch(
            sentences,
            beam_size=beam,
            patience=patience,
            length_penalty=ALPHA,
            max_batch_size=batch,
            max_decoding_length=max(map(len, sentences)) + 1 + EXTRA_LENGTH,
        )
        return [result.hypotheses[0] for result in results]

    return search


def ctranslate2(vocabulary: list[str], **wishes: Any) -> Translate:
    """CTranslate2 as its users have it, with the library of the tokenizer: texts -> pairs as above."""
    source, target = tokenizers(vocabulary)
    search = ctranslate2_tokens(**wishes)

    def translate(texts: list[str]) -> list[tuple[str, int]]:
        found = search([each.tokens for each in source.encode_batch(texts, add_special_tokens=False)])
        return [(target.decode(list(map(target.token_to_id, names))).strip(), len(names) + 1) for names in found]

    return translate


def tokenizers(files: list[str]) -> tuple[Any, Any]:
    """The tokenizers of the two sides, as the library of that name has them."""
    from tokenizers import Tokenizer

    source, target = map(Tokenizer.from_file, files)
    return source, target


def huggingface(directory: str, vocabulary: list[str], beam: int, batch: int, epsilon: float) -> Translate:
    """`generate` of a Marian model: texts -> pairs as above; batches are sorted by length."""
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from transformers import MarianMTModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    model = MarianMTModel.from_pretrained(directory).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = epsilon  # no setting of Marian's
    pad, end = model.config.pad_token_id, model.config.eos_token_id
    tokenizer, target = tokenizers(vocabulary)

    def generate(sentences: list[list[int]]) -> list[list[int]]:
        source = pad_sequence([torch.tensor(each) for each in sentences], batch_first=True, padding_value=pad)
        written = model.generate(
            source,
            attention_mask=(source != pad).long(),
            num_beams=beam,
            length_penalty=ALPHA,
            max_new_tokens=source.size(1) + EXTRA_LENGTH,
            do_sample=False,
        )
        return written[:, 1:].tolist()

    def read(output: list[int]) -> tuple[str, int]:
        ids = output[: output.index(end)] if end in output else output
        return target.decode(ids).strip(), len(ids) + 1

    def translate(texts: list[str]) -> list[tuple[str, int]]:
        sentences = [[*each.ids, end] for each in tokenizer.encode_batch(texts, add_special_tokens=False)]
        order = sorted(range(len(sentences)), key=lambda place: -len(sentences[place]))
        found: dict[int, list[int]] = {}
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            found.update(zip(places, generate([sentences[place] for place in places]), strict=True))
        return [read(found[place]) for place in range(len(sentences))]

    return translate


ENGINES = {
    "headway": headway,
    "ctranslate2": ctranslate2,
    "ctranslate2_tokens": ctranslate2_tokens,
    "huggingface": huggingface,
}


def answer(translate: Translate, sentences: list[Any]) -> dict[str, Any]:
    """The translations, and the seconds they took."""
    start = time.perf_counter()
    outputs = translate(sentences)
    return {"outputs": outputs, "seconds": time.perf_counter() - start}


def main() -> None:
    wanted = json.loads(sys.stdin.readline())
    translate = ENGINES[wanted.pop("kind")](**wanted)
    print("{}", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(translate, **json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
