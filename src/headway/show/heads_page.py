"""A study of heads -> one HTML file: heat maps and tables of what each head does, and what is lost without it."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headway.show.document import Kind
from headway.show.heads import MEASURES, Ablation, HeadEffect, Statistics
from headway.show.plots import ablation_plot, largest_effect, largest_of, statistics_plot
from headway.show.sheet import sheet
from headway.show.story import NAMES
from headway.show.templates import fill_template, scripts, template

EFFECT = "effect"
CAPTIONS = {
    EFFECT: "Loss without it",
    "entropy": "Entropy",
    "distance": "Distance",
    "confidence": "Confidence",
    "previous": "Top on previous",
    "same": "Top on own",
    "next": "Top on next",
    "first": "Top on first",
    "last": "Top on last",
}
FORMATS = {EFFECT: "z.3f", "entropy": ".2f", "distance": ".1f", "confidence": ".2f"}
SHARE_FORMAT = ".0%"
SMALL_EFFECT = 0.01
"""Nats a token: heads that change the loss by less are counted as those that could go."""

Numbers = Mapping[str, float]
"""Of a head, by measure."""
Place = tuple[int, int]
"""Layer and head, counted from 0."""


@dataclass(frozen=True)
class HeadStudy:
    """What was found out about the heads of a run."""

    run: str
    texts: str
    """The sentences, by the name of their file."""
    statistics: Statistics
    ablation: Ablation | None = None
    ablation_sentences: int = 0
    left_out: int = 0
    """Sentences that training would have left out, too: empty ones, and those that are too long."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model has."""
        return tuple(dict.fromkeys(head.kind for head in self.statistics.heads))

    def numbers(self, kind: Kind) -> dict[Place, Numbers]:
        """All numbers of the heads of a kind, by layer and head."""
        found: dict[Place, dict[str, float]] = {}
        for effect in self.ablation.heads if self.ablation else ():
            if effect.kind == kind:
                found[effect.layer, effect.head] = {EFFECT: effect.change}
        for head in self.statistics.heads:
            if head.kind == kind:
                own = found.setdefault((head.layer, head.head), {})
                own.update({measure: getattr(head, measure) for measure in MEASURES})
        return dict(found)

    def as_json(self) -> dict[str, Any]:
        """The fields, for `json.dumps`."""
        ablation = {"sentences": self.ablation_sentences, **self.ablation.as_json()} if self.ablation else None
        return {
            "run": self.run,
            "texts": self.texts,
            "left_out": self.left_out,
            "statistics": self.statistics.as_json(),
            "ablation": ablation,
        }


def heads_page(study: HeadStudy) -> str:
    """The text of the page."""
    largest = _largest(study)
    return fill_template(
        "heads.html",
        title=html.escape(f"Heads: {study.run}"),
        style=template("page.css") + template("heads.css"),
        facts=html.escape(_facts(study)),
        findings="\n".join(f"  <p>{html.escape(each)}</p>" for each in findings(study)),
        sections="\n".join(_section(NAMES[kind], study.numbers(kind), largest) for kind in study.kinds),
        script=scripts(("theme.js", "heads.js")),
    )


def heads_plot(study: HeadStudy) -> str:
    """All maps of the page as one drawing, a column a kind."""
    rows = [[ablation_plot(study.ablation, kind) for kind in study.kinds]] if study.ablation else []
    rows += [[statistics_plot(study.statistics, kind, measure) for kind in study.kinds] for measure in MEASURES]
    return sheet("Heads", rows)


def findings(study: HeadStudy) -> list[str]:
    """What one would look for first: the heads that matter most, and how many hardly do."""
    if study.ablation is None:
        return []
    effects = sorted(study.ablation.heads, key=lambda head: -head.change)
    first, others = effects[0], effects[1:3]
    spared = sum(abs(head.change) < SMALL_EFFECT for head in effects)
    found = [
        f"Without {_name(first)}, the loss goes from {study.ablation.whole:.3f} to {first.without:.3f} nats a token"
        + (f"; next come {' and '.join(map(_name, others))}." if others else ".")
    ]
    if spared:
        found.append(f"{spared} of {len(effects)} heads change it by less than {SMALL_EFFECT} when switched off alone.")
    return found


def _name(head: HeadEffect) -> str:
    return f"layer {head.layer + 1}, head {head.head + 1} of the {NAMES[head.kind]}"


def _facts(study: HeadStudy) -> str:
    facts = [study.run, f"{study.statistics.sentences:,} sentences of {study.texts}"]
    if study.left_out:
        facts.append(f"{study.left_out:,} left out: empty or too long")
    if study.ablation:
        facts.append(f"loss {study.ablation.whole:.3f} nats a token on {study.ablation_sentences:,} of them")
    return " · ".join(facts)


def _largest(study: HeadStudy) -> dict[str, float]:
    """What has the full colour, by measure; the same for all kinds, so that they can be compared."""
    largest = {measure: largest_of(study.statistics, measure) for measure in MEASURES}
    return {EFFECT: largest_effect(study.ablation), **largest} if study.ablation else largest


def _section(name: str, numbers: Mapping[Place, Numbers], largest: Numbers) -> str:
    """A kind of attention: a map for each measure, and a table of all numbers."""
    heats = "\n".join(_heat(measure, numbers, largest[measure]) for measure in largest)
    return (
        f'<section class="panel kind">\n<h2>{name.capitalize()}</h2>\n<div class="heats">\n{heats}\n</div>\n'
        f"{_table(numbers, largest)}\n</section>"
    )


def _heat(measure: str, numbers: Mapping[Place, Numbers], largest: float) -> str:
    """One measure, layers downwards."""
    layers, heads = (1 + max(place[side] for place in numbers) for side in (0, 1))
    rows = [
        _row(str(layer + 1), [_cell(measure, numbers[layer, head][measure], largest) for head in range(heads)])
        for layer in range(layers)
    ]
    columns = "".join(f'<th scope="col">{head + 1}</th>' for head in range(heads))
    return (
        f'<div class="heat"><table><caption>{CAPTIONS[measure]}</caption><thead><tr><td></td>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _table(numbers: Mapping[Place, Numbers], largest: Numbers) -> str:
    """All numbers, a row a head, those that matter most first."""
    order = sorted(numbers, key=lambda place: -numbers[place].get(EFFECT, 0))
    columns = "".join(
        f'<th scope="col"{" aria-sort=descending" if name == CAPTIONS[EFFECT] else ""}>'
        f'<button type="button">{name}</button></th>'
        for name in ("Head", *(CAPTIONS[measure] for measure in largest))
    )
    rows = [
        _row(
            f"layer {layer + 1}, head {head + 1}",
            [_cell(measure, numbers[layer, head][measure], most) for measure, most in largest.items()],
            place=layer * len(numbers) + head,
        )
        for layer, head in order
    ]
    return (
        f'<details class="numbers"><summary>All numbers as a table</summary><table><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></details>"
    )


def _row(name: str, cells: Iterable[str], place: int = 0) -> str:
    """A row of cells; its place is what it is sorted by."""
    return f'<tr><th scope="row" data-value="{place}">{name}</th>{"".join(cells)}</tr>'


def _cell(measure: str, number: float, largest: float) -> str:
    """A number, shaded by its share of the largest."""
    side = " below" if number < 0 else ""
    share = f"--share:{abs(number) / largest:.2f}"
    shown = format(number, FORMATS.get(measure, SHARE_FORMAT))
    return f'<td class="shaded{side}" style="{share}" data-value="{number:.6g}">{shown}</td>'
