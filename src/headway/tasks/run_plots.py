"""The plots of a run: position encodings, learning rate, curves, smoothed targets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from headway.errors import UserError
from headway.models import EncoderDecoder, Model
from headway.nn.positions import Layout, LearnedPositions, Sinusoids, sinusoids
from headway.show.page import Figure
from headway.show.plots import bleu_plot, loss_plot, positions_plot, schedule_plot, similarity_plot, smoothing_plot
from headway.show.sheet import sheet
from headway.store.metrics import read_metrics
from headway.store.run import Run
from headway.tasks.showing import Trained
from headway.train.schedules import build_schedule

PlotName = Literal["positions", "schedule", "curves", "smoothing"]

SHOWN_POSITIONS = 128
LAYOUTS: dict[Layout, str] = {
    "interleaved": "sines and cosines in turn",
    "concatenated": "all sines, then all cosines",
    "concatenated-t2t": "all sines, then all cosines, as tensor2tensor has it",
}


def plot_run(path: str | Path, what: PlotName, *, checkpoint: str | None = None, settings: Sequence[str] = ()) -> str:
    """One kind of plot of a run; only position encodings need its weights."""
    match what:
        case "positions":
            return plot_positions(Trained.load(path, checkpoint=checkpoint, settings=settings))
        case "schedule":
            run = Run.open(path)
            return plot_schedule(run, read_metrics(run.metrics.path))
        case "curves":
            return plot_curves(read_metrics(Run.open(path).metrics.path))
        case "smoothing":
            return smoothing_plot(epsilon=Run.open(path).config.train.label_smoothing)


def run_figures(trained: Trained) -> list[Figure]:
    """The plots that stand under the attention: those that the run has something for."""
    run, settings = trained.run, trained.run.config.train
    records = read_metrics(run.metrics.path)
    figures = []
    if _has(records, "rate"):
        caption = f"The learning rate of the run, and what train.schedule = {settings.schedule} says (section 5.3)."
        figures.append(Figure(plot_schedule(run, records), caption))
    if _has(records, "loss"):
        caption = "Cross entropy: with smoothed targets, which is what is trained, and without, as perplexity has it."
        figures.append(Figure(loss_plot(records), caption))
    if _has(records, "valid_bleu"):
        figures.append(Figure(bleu_plot(records), "Validation sentences, really translated by greedy search."))
    tables = position_tables(trained.model)
    for name, table in tables.items():
        caption = "What the model adds to its embeddings (section 3.5): a row is a position."
        figures.append(Figure(positions_plot(table, name), caption))
        caption = "The cosine between the encodings of every two positions: near ones are alike."
        figures.append(Figure(similarity_plot(table, name), caption))
    for name, table in other_layouts(tables, run.config.model.d_model).items():
        caption = "Another usual layout, to compare: weights trained with one do not fit the other."
        figures.append(Figure(positions_plot(table, name), caption))
    if settings.label_smoothing:
        caption = (
            "What the model is taught to answer (section 5.4), shown for a vocabulary of 8 tokens. "
            f"This run: train.smoothing = {settings.smoothing}."
        )
        figures.append(Figure(smoothing_plot(epsilon=settings.label_smoothing), caption))
    return figures


def plot_positions(trained: Trained) -> str:
    """The encodings that the model uses, and the layouts of sinusoids that it does not, each with their similarity."""
    tables = position_tables(trained.model)
    if not tables:
        raise UserError(f"{trained.run.path} has model.positions = none: there are no encodings to show")
    tables |= other_layouts(tables, trained.run.config.model.d_model)
    rows = [[positions_plot(table, name), similarity_plot(table, name)] for name, table in tables.items()]
    return sheet("Position encodings", rows)


def plot_schedule(run: Run, records: Sequence[dict[str, Any]]) -> str:
    """The learning rates that were recorded, and those of the formula at the same steps."""
    steps = [record["step"] for record in records if "rate" in record]
    rates = [record["rate"] for record in records if "rate" in record]
    schedule = build_schedule(run.config.train, run.config.model.d_model)
    return schedule_plot(steps, rates, [schedule(step) for step in steps])


def plot_curves(records: Sequence[dict[str, Any]]) -> str:
    """Losses, and BLEU if it was measured."""
    rows = [[loss_plot(records)]]
    if _has(records, "valid_bleu"):
        rows.append([bleu_plot(records)])
    return sheet("Curves", rows)


def position_tables(model: Model) -> dict[str, Tensor]:
    """The encodings (T, D) that a model uses, by name: the first positions of each table."""
    inputs = (
        {"": model.input}
        if not isinstance(model, EncoderDecoder)
        else {" by the encoder": model.source_input, " by the decoder": model.target_input}
    )
    tables = {}
    for side, layer in inputs.items():
        match layer.positions:
            case Sinusoids() as positions:
                tables[LAYOUTS[positions.layout]] = positions.table[:SHOWN_POSITIONS]
            case LearnedPositions() as positions:
                tables[f"learned{side}"] = positions.table[:SHOWN_POSITIONS]
    return tables


def other_layouts(tables: Mapping[str, Tensor], d_model: int) -> dict[str, Tensor]:
    """The two usual layouts of sinusoids, but for those that are among the tables; none if there are no tables."""
    layouts: tuple[Layout, ...] = ("interleaved", "concatenated")
    missing = [layout for layout in layouts if tables and LAYOUTS[layout] not in tables]
    return {LAYOUTS[layout]: sinusoids(SHOWN_POSITIONS, d_model, layout) for layout in missing}


def _has(records: Sequence[dict[str, Any]], key: str) -> bool:
    return any(key in record for record in records)
