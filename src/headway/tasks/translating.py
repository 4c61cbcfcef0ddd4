"""What to translate with, in words that a command or another process can say, and lines -> translations by it."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from headway.search.translations import Line, Translation
from headway.search.translator import OnWarning, Translator
from headway.tasks.engines import OnNotice, Request, Wishes, fast_engine
from headway.tasks.loading import ignore, make_translator, open_request


@dataclass(frozen=True)
class Order:
    """What to load, and what to write with it."""

    run: str
    checkpoint: str | None = None
    settings: tuple[str, ...] = ()
    ensemble: tuple[str, ...] = ()
    alignments: bool = False
    engine: str = "auto"
    quantization: str | None = None
    probabilities: bool = True
    """Whether those of single tokens are wanted, and the scores of greedy outputs."""
    one_by_one: bool = False
    """Whether somebody waits for each line."""

    def request(self, workers: int | None = None) -> Request:
        """What is wanted of the run."""
        wishes = Wishes(self.engine, self.quantization, workers, self.probabilities, self.alignments, self.one_by_one)
        return open_request(self.run, self.checkpoint, self.settings, self.ensemble, wishes)

    def load(self, workers: int | None = None, on_notice: OnNotice = ignore) -> Translator:
        """The translator."""
        request = self.request(workers)
        return make_translator(request, fast_engine(request, on_notice), on_notice)

    def translate(
        self,
        lines: Iterable[str | Line],
        on_warning: OnWarning,
        workers: int | None = None,
        on_notice: OnNotice = ignore,
    ) -> Iterator[Translation]:
        """The translations of lines, in constant memory.

        Several workers are threads of CTranslate2 in this process, or processes with our own engine, of one thread
        each; by default as many as is best for CTranslate2, and one for our own.
        """
        return self._stream(self.load(workers, on_notice), lines, on_warning)

    def _stream(
        self, translator: Translator, lines: Iterable[str | Line], on_warning: OnWarning
    ) -> Iterator[Translation]:
        with closing(translator):
            yield from translator.translate_stream(lines, alignments=self.alignments, on_warning=on_warning)
