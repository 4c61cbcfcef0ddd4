"""Headway trains, explains and serves Transformers. Importing it is cheap: torch is loaded on first use."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from headway.config import Config as Config
    from headway.config import ModelConfig as ModelConfig
    from headway.config import TrainConfig as TrainConfig
    from headway.errors import UserError as UserError
    from headway.models import build_model as build_model
    from headway.models import describe as describe
    from headway.settings import load_config as load_config
    from headway.tasks.distilling import distill as distill
    from headway.tasks.interface import evaluate as evaluate
    from headway.tasks.interface import train as train
    from headway.tasks.loading import load as load

_HOMES = {
    "Config": "headway.config",
    "ModelConfig": "headway.config",
    "TrainConfig": "headway.config",
    "UserError": "headway.errors",
    "build_model": "headway.models",
    "describe": "headway.models",
    "distill": "headway.tasks.distilling",
    "load": "headway.tasks.loading",
    "load_config": "headway.settings",
}
_TASKS = ("evaluate", "train")
"""Functions of `headway.tasks.interface` whose names are those of rooms, too."""

__all__ = ["__version__", *sorted([*_HOMES, *_TASKS])]


class _Room(ModuleType):
    """A room that can be called: `headway.train(...)` trains, and `headway.train.trainer` is a module in it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        task = getattr(import_module("headway.tasks.interface"), self.__name__.rpartition(".")[2])
        return task(*arguments, **options)


class _Package(ModuleType):
    """This package; importing a room sets it here, whoever imports it first."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _TASKS:
            value.__class__ = _Room
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name in _TASKS:
        return import_module(f"headway.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
