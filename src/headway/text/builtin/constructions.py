"""The list of all constructions, with how often each is drawn."""

from collections.abc import Callable
from dataclasses import dataclass

from headway.text.builtin import compound, descriptions, pronouns, questions, statements
from headway.text.builtin.draw import Draw
from headway.text.builtin.meanings import Meaning


@dataclass(frozen=True)
class Construction:
    """A way to say something: how its meanings are drawn, and its share of the corpus."""

    draw: Callable[[Draw], Meaning]
    weight: float = 1.0


_DRAWN = (
    descriptions.identity,
    descriptions.quality,
    descriptions.mood,
    descriptions.habit_of_mind,
    descriptions.past_quality,
    descriptions.age,
    descriptions.possession,
    descriptions.owned_thing,
    descriptions.subject_relative,
    descriptions.object_relative,
    descriptions.existence,
    descriptions.supplies,
    descriptions.location,
    descriptions.comparison,
    descriptions.speech,
    statements.past,
    statements.past_negative,
    statements.future,
    statements.future_negative,
    statements.habit,
    statements.diet,
    statements.progressive,
    statements.leisure,
    statements.wearing,
    statements.counted,
    statements.please,
    statements.forbid,
    statements.suggestion,
    statements.modal,
    statements.modal_negative,
    statements.routine,
    statements.timetable,
    statements.motion,
    statements.likes,
    statements.preference,
    statements.studies,
    statements.giving,
    statements.contact,
    statements.origin,
    statements.experience,
    questions.yes_no_past,
    questions.yes_no_quality,
    questions.yes_no_have,
    questions.modal_question,
    questions.where_is,
    questions.who_question,
    questions.what_question,
    questions.when_or_where_question,
    questions.why_question,
    questions.how_many_question,
    questions.which_question,
    questions.price_or_owner_question,
    compound.object_clitic,
    compound.person_clitic,
    compound.recipient_clitic,
    compound.coordination,
    compound.contrast,
    compound.reason,
    compound.when,
    compound.condition,
    compound.weather,
    compound.exclamation,
    pronouns.pronoun_reference,
)
_OFTEN = {"pronoun_reference": 16.0}

CONSTRUCTIONS = {draw.__name__: Construction(draw, _OFTEN.get(draw.__name__, 1.0)) for draw in _DRAWN}
"""All constructions by name."""
