"""The reference of all settings, as `--help` shows it and as docs/config.md holds it, from their docstrings."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args, get_origin

from headway.config import Config
from headway.presets import PRESETS


def settings_help(width: int = 80, sections: Iterable[str] = tuple(Config.model_fields)) -> str:
    """The settings of sections, by default of all, as plain text for a terminal."""
    lines = []
    for section in sections:
        for name, default, choices, text in _fields(section):
            lines.append(f"  {section}.{name} = {default}")
            body = f"{text} Choices: {', '.join(choices)}." if choices else text
            lines += textwrap.wrap(body, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines)


def presets_help() -> str:
    """The presets, a line each."""
    return "\n".join(f"  {name:<10} {preset.summary}" for name, preset in PRESETS.items())


def config_page() -> str:
    """docs/config.md."""
    lines = [
        "# Settings",
        "",
        "Generated from the docstrings in `src/headway/config.py` by `make docs`; do not edit.",
        "",
        "A setting is given in a TOML file (`--config FILE.toml`) or on the command line",
        "(`--set model.heads=4`, as often as needed). The command line wins over the file, the file over",
        "the preset, the preset over the defaults. The defaults are the paper's base model.",
    ]
    for section, field in Config.model_fields.items():
        assert field.annotation is not None
        lines += ["", f"## {section}", "", (field.annotation.__doc__ or "").strip(), ""]
        lines += ["| setting | default | meaning |", "| --- | --- | --- |"]
        for name, default, choices, text in _fields(section):
            body = f"{text} Choices: {', '.join(f'`{choice}`' for choice in choices)}." if choices else text
            lines.append(f"| `{section}.{name}` | {default} | {body} |")
    lines += ["", "## Presets", "", "| preset | what it is | settings that differ from the defaults |"]
    lines += ["| --- | --- | --- |"]
    for name, preset in PRESETS.items():
        changes = [f"`{s}.{k}={v}`" for s, fields in preset.settings.items() for k, v in fields.items()]
        lines.append(f"| `{name}` | {preset.summary} | {', '.join(changes) or 'none'} |")
    return "\n".join(lines) + "\n"


def _fields(section: str) -> Iterator[tuple[str, str, list[str], str]]:
    """Name, default, choices (of a closed choice) and explanation of each setting of a section."""
    model: Any = Config.model_fields[section].annotation
    for name, field in model.model_fields.items():
        literal = field.annotation if get_origin(field.annotation) is Literal else None
        yield name, _in_toml(field.default), [str(choice) for choice in get_args(literal)], field.description


def _in_toml(value: object) -> str:
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else str(value)
