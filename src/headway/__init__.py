"""Headway trains, explains and serves Transformers. Importing it is cheap: torch is loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from headway.config import Config as Config
    from headway.config import ModelConfig as ModelConfig
    from headway.config import TrainConfig as TrainConfig
    from headway.errors import UserError as UserError
    from headway.models import build_model as build_model
    from headway.models import describe as describe
    from headway.settings import load_config as load_config

_HOMES = {
    "Config": "headway.config",
    "ModelConfig": "headway.config",
    "TrainConfig": "headway.config",
    "UserError": "headway.errors",
    "build_model": "headway.models",
    "describe": "headway.models",
    "load_config": "headway.settings",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
