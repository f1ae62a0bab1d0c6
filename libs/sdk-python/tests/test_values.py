"""Reported values become proto JSON, or raise in the reporting call."""

from __future__ import annotations

import collections
import decimal
import enum
import json
import math
import random
import unittest

from trainyard import _values


class Scalar:
    """A scalar like those of NumPy and PyTorch: its type is not a number, but it has item()."""

    def __init__(self, value):
        self._value = value

    def item(self):
        return self._value


class Array:
    """An array of several elements."""

    def __init__(self, values):
        self._values = values

    def item(self):
        raise ValueError("can only convert an array of size 1 to a Python scalar")

    def tolist(self):
        return self._values


class LongDouble:
    """Like NumPy's longdouble: item() returns the object itself."""

    def item(self):
        return self

    def __float__(self):
        return 2.5


class Level(enum.IntEnum):
    HIGH = 3


class ToJson(unittest.TestCase):
    def assert_json(self, value, expected):
        got = _values.to_json(value, "x")
        self.assertEqual(json.dumps(got), json.dumps(expected))

    def test_numbers_booleans_none_and_strings_are_unchanged(self):
        for value in (0, -1, 1.5, 5e-324, 2**53, -(2**53), True, False, None, "a"):
            self.assert_json(value, value)

    def test_a_value_that_is_not_finite_becomes_its_string(self):
        self.assert_json(math.nan, "NaN")
        self.assert_json(math.inf, "Infinity")
        self.assert_json(-math.inf, "-Infinity")
        self.assert_json(Scalar(math.nan), "NaN")

    def test_integers_that_are_not_exact_as_doubles_become_the_nearest_double(self):
        self.assert_json(2**53 + 1, float(2**53))
        self.assert_json(10**400, "Infinity")
        self.assert_json(-(10**400), "-Infinity")

    def test_whole_numbers_have_all_their_digits_as_in_javascript(self):
        self.assertEqual(_values.encode(_values.to_json(1e20, "v")), b"1" + b"0" * 20)
        self.assertEqual(_values.encode(_values.to_json(-(10**16), "v")), b"-1" + b"0" * 16)
        self.assertEqual(_values.encode(_values.to_json(1e21, "v")), b"1e+21")

    def test_scalars_and_arrays_of_libraries_become_numbers_and_lists(self):
        self.assert_json(Scalar(3), 3)
        self.assert_json(Scalar(True), True)
        self.assert_json(Array([1.0, math.nan]), [1.0, "NaN"])
        self.assert_json(LongDouble(), 2.5)
        self.assert_json(decimal.Decimal("0.25"), 0.25)
        self.assert_json(Level.HIGH, 3)

    def test_values_in_nested_dicts_lists_and_tuples_are_converted(self):
        pair = collections.namedtuple("pair", "a b")
        self.assert_json({"a": [1, (2, Scalar(math.inf))]}, {"a": [1, [2, "Infinity"]]})
        self.assert_json(pair(1, 2), [1, 2])
        self.assert_json(collections.OrderedDict(a=1), {"a": 1})

    def test_a_value_without_a_json_form_is_named_in_the_error(self):
        for value in (object(), b"x", {1, 2}, 1 + 2j, float, json):
            with self.assertRaisesRegex(
                TypeError, r"metrics\['m'\]\[1\] has the type .*cannot be stored"
            ):
                _values.metrics_of({"m": [0, value]})

    def test_names_that_are_not_strings_raise(self):
        with self.assertRaisesRegex(TypeError, "keys must be strings"):
            _values.metrics_of({"m": {1: 2}})
        with self.assertRaisesRegex(TypeError, "must be a string, not int"):
            _values.metrics_of({1: 2})
        with self.assertRaisesRegex(TypeError, "must be a mapping"):
            _values.metrics_of([("a", 1)])

    def test_a_value_that_contains_itself_raises(self):
        loop = []
        loop.append(loop)
        with self.assertRaisesRegex(ValueError, "contains itself"):
            _values.metrics_of({"m": loop})

    def test_names_and_texts_with_unstorable_characters_raise(self):
        with self.assertRaisesRegex(ValueError, r"U\+0000"):
            _values.metrics_of({"m": "a\0b"})
        with self.assertRaisesRegex(ValueError, "control character"):
            _values.metrics_of({"a\0b": 1})
        with self.assertRaisesRegex(ValueError, "1 to 255 characters"):
            _values.metrics_of({"": 1})
        with self.assertRaisesRegex(ValueError, "lone surrogate"):
            _values.encode({"m": "\ud800"})

    def test_groups_have_at_most_128_utf_16_code_units(self):
        self.assertEqual(_values.group_of("g" * 128), "g" * 128)
        for group in ("g" * 129, "\U0001f600" * 65):
            with self.assertRaisesRegex(ValueError, "group must have 1 to 128 characters"):
                _values.group_of(group)

    def test_random_values_survive_encoding_and_parsing(self):
        for seed in range(200):
            draw = random.Random(seed)
            value = random_value(draw, 4)
            text = _values.encode(_values.metrics_of({"v": value})).decode()
            self.assertNotIn("\n", text, f"seed {seed}")
            self.assertEqual(json.loads(text)["v"], _values.to_json(value, "v"), f"seed {seed}")


class Steps(unittest.TestCase):
    def test_valid_step_counts_are_returned_as_int_or_float(self):
        for value, expected in (
            (0, 0),
            (7, 7),
            (2.0, 2),
            (0.5, 0.5),
            (Scalar(4), 4),
            (2**53, 2**53),
        ):
            got = _values.steps_of(value)
            self.assertEqual((got, type(got)), (expected, type(expected)))

    def test_an_invalid_step_count_is_refused(self):
        for value in (-1, math.nan, math.inf, 2**54, -0.1):
            with self.assertRaisesRegex(ValueError, "steps_completed must be"):
                _values.steps_of(value)
        for value in ("3", None, True, [1], Scalar("3"), Scalar(True)):
            with self.assertRaisesRegex(TypeError, "steps_completed must be a number"):
                _values.steps_of(value)


def random_value(draw, depth):
    """Returns a random JSON value, with unusual characters and numbers more often than usual."""
    kind = draw.randrange(8 if depth else 6)
    if kind == 0:
        return draw.choice([0.0, -0.0, 1e308, 5e-324, math.nan, math.inf, -math.inf])
    if kind == 1:
        return draw.uniform(-1e6, 1e6)
    if kind == 2:
        return draw.randint(-(2**53), 2**53)
    if kind == 3:
        return draw.choice([True, False, None])
    if kind in (4, 5):
        return "".join(draw.choice('ab"\\\n\r\u2028é💥\x7f') for _ in range(draw.randrange(12)))
    if kind == 6:
        return [random_value(draw, depth - 1) for _ in range(draw.randrange(4))]
    return {f"k{n}\n": random_value(draw, depth - 1) for n in range(draw.randrange(4))}


if __name__ == "__main__":
    unittest.main()
