"""Answers of 04 and 05 that the exercises of 06 call. If somebody's own are in their notebook and wrong, the library's take their place."""

from dataclasses import replace

from autograded_tests.m04_attention.causal_mask import EXERCISE as CAUSAL_MASK_OF_04
from autograded_tests.m04_attention.multi_head_attention import EXERCISE as MULTI_HEAD_ATTENTION_OF_04
from autograded_tests.m05_efficient_attention.cached_attention import EXERCISE as CACHED_ATTENTION_OF_05
from autograded_tests.m05_efficient_attention.kv_cache import EXERCISE as KV_CACHE_OF_05
from exercises.model import Exercise, StandIn


def called(exercise: Exercise, *uses: Exercise) -> Exercise:
    """An exercise of an earlier module as it is called here: but for `uses`, what it calls itself is in another notebook."""
    library = f"tinytorch.core.{exercise.module.partition('_')[2]}"
    return replace(exercise, uses=uses, stand_in=StandIn.of_library(exercise.defines, library))


CAUSAL_MASK, MULTI_HEAD_ATTENTION = called(CAUSAL_MASK_OF_04), called(MULTI_HEAD_ATTENTION_OF_04)
KV_CACHE = called(KV_CACHE_OF_05)
CACHED_ATTENTION = called(CACHED_ATTENTION_OF_05, KV_CACHE)
