"""Games of Coplay as environments of PettingZoo and Gymnasium, and policies that were trained with Coplay."""
from .batch import Batch as vector_env
from .node import CoplayError, games
from .policy import Policy, load_policy

__all__ = ["CoplayError", "Policy", "aec_env", "games", "gym_env", "load_policy", "parallel_env", "sb3_env", "vector_env"]


def __getattr__(name):
    """Environments of other libraries are loaded on use, since the libraries may be absent."""
    if name in ("parallel_env", "aec_env", "gym_env", "sb3_env"):
        from importlib import import_module

        module = {"parallel_env": "zoo", "aec_env": "zoo", "gym_env": "gym", "sb3_env": "sb3"}[name]
        return getattr(import_module("." + module, __name__), name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
