"""A preset, a TOML file and `--set` assignments -> one `Config`; and a `Config` -> TOML.

Later sources win. All problems are gathered and raised once, each with the place that it came from.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from headway.config import Config
from headway.errors import UserError, nearest
from headway.presets import find_preset

Settings = dict[str, Any]
Key = tuple[str, ...]
Places = dict[Key, str]


def load_config(preset: str | None = None, file: str | Path | None = None, assignments: Iterable[str] = ()) -> Config:
    """The settings of a preset, changed by a TOML file, changed by `section.name=value` assignments."""
    sources: list[tuple[Settings, Places]] = []
    if preset is not None:
        settings: Settings = find_preset(preset).settings
        sources.append((settings, dict.fromkeys(_keys(settings), f"preset {preset}")))
    if file is not None:
        sources.append(_read_file(Path(file)))
    sources += [_read_assignment(assignment) for assignment in assignments]
    merged: Settings = {}
    places: Places = {}
    for settings, where in sources:
        merged = _merge(merged, settings)
        places |= where
    if places.get(("model", "decoder_layers")) == f"preset {preset}":
        merged["model"] = _with_its_decoder(merged["model"], places[("model", "layers")] == f"preset {preset}")
    return parse_config(merged, places)


def parse_config(settings: Mapping[str, Any], places: Mapping[Key, str] | None = None) -> Config:
    """A `Config` from nested settings; `places` says where a setting was given, for the messages."""
    try:
        return Config.model_validate(settings)
    except ValidationError as invalid:
        problems = [_explain(error, places or {}) for error in invalid.errors()]
        raise UserError("\n".join(problems)) from None


def config_to_toml(config: Config) -> str:
    """The complete settings as TOML; reading it back gives an equal `Config`."""
    return tomli_w.dumps(config.model_dump(exclude_none=True))


def _read_file(path: Path) -> tuple[Settings, Places]:
    try:
        text = path.read_text(encoding="utf-8")
        settings = tomllib.loads(text)
    except OSError as error:
        raise UserError(f"cannot read the settings file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start}); settings files are TOML in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    lines = _line_numbers(text)
    return settings, {key: f"{path}, line {lines[key]}" if key in lines else str(path) for key in _keys(settings)}


def _line_numbers(text: str) -> dict[Key, int]:
    """Where each section and each `name = value` stands, for messages; exotic spellings are simply not found."""
    found: dict[Key, int] = {}
    section: Key = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[([\w.\s-]+)\]", line):
            section = tuple(part.strip() for part in header[1].split("."))
            found[section] = number
        elif entry := re.match(r"\s*([\w.-]+)\s*=", line):
            found[section + tuple(entry[1].split("."))] = number
    return found


def _read_assignment(assignment: str) -> tuple[Settings, Places]:
    name, equals, value = assignment.partition("=")
    key = tuple(part.strip() for part in name.split("."))
    if not equals or len(key) != 2 or not all(key):
        raise UserError(f"--set takes section.name=value, as in --set model.heads=4; got {assignment}")
    return {key[0]: {key[1]: _read_value(value.strip())}}, {key: f"--set {assignment}"}


def _read_value(text: str) -> Any:
    """A TOML value; what is not one is taken as a string, so that quotes are not needed."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _merge(below: Settings, above: Mapping[str, Any]) -> Settings:
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        merged[name] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _with_its_decoder(model: Any, has_its_layers: bool) -> Any:
    """A preset's model, without its decoder layers if it was given other layers, or its family has no decoder."""
    if not isinstance(model, dict) or (has_its_layers and model.get("family", "encoder-decoder") == "encoder-decoder"):
        return model
    return {name: value for name, value in model.items() if name != "decoder_layers"}


def _keys(settings: Mapping[str, Any], prefix: Key = ()) -> Iterable[Key]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _keys(value, (*prefix, name))
        yield (*prefix, name)


def _explain(error: ErrorDetails, places: Mapping[Key, str]) -> str:
    """One problem in the words of the house: what, where, what to do."""
    key = tuple(str(part) for part in error["loc"])
    name = ".".join(key)
    place = f" ({places[key]})" if key in places else ""
    match error["type"]:
        case "extra_forbidden":
            return f"unknown setting {name}{place}{_suggest(key)}"
        case "rules":
            return error["msg"]
        case "model_type":
            return f"{name} is a section of settings{place}; give its settings by name, as in [{name}]"
        case _:
            expectation = error["msg"].removeprefix("Input should be ")
            return f"{name} must be {expectation}{place}; got {error['input']!r}"


def _suggest(key: Key) -> str:
    """'; did you mean model.heads?': a near name of the key's own section, else of any, else all of its own."""
    known = _known_settings()
    own = [name for name in known if name[:-1] == key[:-1]]
    for candidates in (own, known):
        if leaf := nearest(key[-1], [name[-1] for name in candidates]):
            meant = next(name for name in candidates if name[-1] == leaf)
            return f"; did you mean {'.'.join(meant)}?"
    return f"; known are {', '.join('.'.join(name) for name in own)}"


def _known_settings() -> list[Key]:
    """Every section and every setting."""
    known: list[Key] = [(section,) for section in Config.model_fields]
    for section, field in Config.model_fields.items():
        assert isinstance(field.annotation, type)
        assert issubclass(field.annotation, BaseModel)
        known += [(section, name) for name in field.annotation.model_fields]
    return known
