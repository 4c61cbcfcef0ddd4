import hypothesis
import pytest
import torch

hypothesis.settings.register_profile("house", deadline=None, print_blob=True, derandomize=True)
hypothesis.settings.load_profile("house")


@pytest.fixture(autouse=True)
def _fixed_seed() -> None:
    torch.manual_seed(1)
