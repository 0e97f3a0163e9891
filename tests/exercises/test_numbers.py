"""When two arrays are the same answer, and where the numbers of questions come from."""

from dataclasses import replace

import numpy as np
import pytest

from autograded_tests import EXERCISES
from exercises.compare import same
from exercises.data import Data
from exercises.model import Case, Question

# --- equal numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "right", "equal"),
    [
        ([1.0, 2.0], [1.0, 2.0], True),
        ([1.0009, 2.0], [1.0, 2.0], True),
        ([1.003, 2.0], [1.0, 2.0], False),
        ([1.0], [1.0, 2.0], False),
        ([0.00015, 2.0], [0.0, 2.0], True),  # against the largest number
        ([0.0005, 2.0], [0.0, 2.0], False),
        ([0.0, 0.0], [0.0, 5e-5], False),
        ([0.0, 0.0], [0.0, 5e-7], True),
        ([np.nan], [np.nan], True),
        ([np.nan], [1.0], False),
        ([-1e9, 1.0], [-np.inf, 1.0], True),
        ([-np.inf, 1.0], [-1e9, 1.0], True),
        ([-104.5, 1.0], [-np.inf, 1.0], True),
        ([-103.0, 1.0], [-np.inf, 1.0], False),
        ([-104.5, -2.0], [-np.inf, -2.0], False),  # 102.5 below the lowest that is allowed
        ([-107.0, -2.0], [-np.inf, -2.0], True),
        ([1e9, 1.0], [np.inf, 1.0], True),
        ([1e7, 1.0], [np.inf, 1.0], False),
    ],
)
def test_same(answer: list[float], right: list[float], equal: bool) -> None:
    assert same(np.array(answer), np.array(right)) is equal


def test_plain_numbers_are_the_same_where_numpy_says_so() -> None:
    rng = np.random.default_rng(0)
    numbers = [0, 1, -1, 1e-3, 5e7, np.nan, 1.0005, 1.002, 100, 1e-9]
    seen = []
    for length in list(range(5)) * 200:
        right = rng.choice(numbers, length)
        answer = np.where(rng.random(length) < 0.7, right, rng.choice(numbers, length))
        answer = answer * (1 + rng.choice([0, 1e-5, 9e-4, 1.1e-3]))
        largest = np.nanmax(np.abs(right), initial=1e-2)
        equal = np.allclose(answer, right, rtol=1e-3, atol=1e-4 * largest, equal_nan=True)
        assert same(answer, right) is equal
        seen.append(equal)
    assert 200 < sum(seen) < 800


def test_numbers_of_other_kinds_are_not_the_same() -> None:
    assert same(np.array([True, False]), np.array([1.0, 0.0])) and same(np.array([1, 0], np.int8), np.array([1.0, 0.0]))
    assert not same(np.array(["1"]), np.array([1.0])) and not same(np.array([1 + 0j]), np.array([1.0]))
    assert not same(np.array([1.0], object), np.array([1.0]))


# --- seeds and sizes --------------------------------------------------------------------------------------------------


def test_questions_are_made_once_for_a_seed_and_sizes() -> None:
    exercise = replace(
        EXERCISES["scale_scores"], cases=(Case("values", 1, lambda d: (Question("p", {"x": d.normal(1, d.L)}, ()),)),)
    )
    (case,) = exercise.cases
    assert exercise.questions(case)[0] is exercise.questions(case)[0]
    other = exercise.on(Data(seed=1, L=6))
    assert other.questions(case)[0]["x"].shape == (6,) and exercise.questions(case)[0]["x"].shape == (4,)


def test_data_are_seeded() -> None:
    first, same_again, other = Data().normal(7, 3), Data().normal(7, 3), Data(seed=1).normal(7, 3)
    assert first.dtype == np.float32 and (first == same_again).all() and not np.allclose(first, other)
    np.testing.assert_array_equal(first, np.random.default_rng(7).normal(size=3).astype(np.float32))
    assert not np.allclose(Data(seed=1).normal(8, 3), other)
    np.testing.assert_allclose(Data().normal(7, 3, scale=2), 2 * first, rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_row_of_a_mask_has_allowed_and_blocked_keys(seed: int) -> None:
    for number in range(50):
        mask = Data(seed=seed).random_mask(number, 3, 4, 2)
        assert mask.dtype == np.float32 and set(np.unique(mask)) == {0, 1}
        assert (mask.sum(-1) == 1).all()
