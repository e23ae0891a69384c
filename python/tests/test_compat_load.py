"""What a class takes is read without :mod:`inspect` where that is possible, and is the same."""

import functools
import inspect

import pytest

from necrodome.compat import load


class Nothing:
    pass


class Everything:
    def __init__(self, name, x=2, *more, k, m=3, **rest):
        pass


class Derived(Everything):
    pass


class Positional:
    def __init__(self, /, a, b=1):
        pass


class Made:
    def __new__(cls, q):
        return object.__new__(cls)


class Wrapped:
    @functools.wraps(Everything.__init__)
    def __init__(self, *more, **rest):
        pass


class OfC(tuple):
    pass


class Meta(type):
    def __call__(cls, other):
        return None


class Called(metaclass=Meta):
    def __init__(self, name):
        pass


@pytest.mark.parametrize("cls", [Nothing, Everything, Derived, Positional, Made, Wrapped, OfC, Called])
def test_what_a_class_takes(cls: type) -> None:
    parameters = inspect.signature(cls).parameters.values()
    named = [it for it in parameters if it.kind in (it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY)]
    assert load._parameters(cls) == {it.name: it.default is not it.empty for it in named}
