"""The judge that a trainer is handed: it really translates validation sentences, and scores them with BLEU."""

from collections.abc import Sequence

from headway.config import Config
from headway.evaluate.scores import score_texts
from headway.models import EncoderOnly, Model
from headway.search.torch_engine import TorchEngine
from headway.search.translator import Translator
from headway.text.corpus import Pair
from headway.text.vocabulary import Vocabulary
from headway.train.validation import Judge, Judgement


def make_judge(config: Config, vocabulary: Vocabulary, pairs: Sequence[Pair]) -> Judge | None:
    """A judge for models that translate, by greedy search; the sample goes round through the pairs."""
    if not pairs or config.objective != "translation":
        return None
    search = config.search.model_copy(update={"beam": 1})
    rounds = iter(range(1_000_000_000))

    def judge(model: Model) -> Judgement:
        assert not isinstance(model, EncoderOnly), "it cannot translate"
        device = next(model.parameters()).device
        engine = TorchEngine(model, search, device)
        translator = Translator(engine, vocabulary, search, max_length=config.data.max_length)
        texts = [translation.text for translation in translator.translate([pair.source for pair in pairs])]
        scores = score_texts(texts, [[pair.target for pair in pairs]], metrics=("bleu",), samples=0)
        shown = next(rounds) % len(pairs)
        return Judgement({"bleu": scores["bleu"].value}, (*pairs[shown], texts[shown]))

    return judge
