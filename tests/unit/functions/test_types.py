from __future__ import annotations

from typing import Any

import pytest

from windrow import functions as wf
from windrow.core import Aggregate, WindrowError

Function = Aggregate[Any, Any, Any]


@pytest.mark.parametrize(
    ("function", "inputs", "result"),
    [
        (wf.count(), [], "bigint"),
        (wf.sum("x"), ["int"], "bigint"),
        (wf.sum("x"), ["float"], "double"),
        (wf.sum("x"), ["decimal(10,2)"], "decimal(20,2)"),
        (wf.mean("x"), ["bigint"], "double"),
        (wf.min("x"), ["string"], "string"),
        (wf.arg_min("x", by="y"), ["array<int>", "date"], "array<int>"),
        (wf.arg_max("x", by="y"), ["string", "double"], "string"),
        (wf.median("x"), ["decimal(5,1)"], "double"),
        (wf.quantile("x", 0.9), ["int"], "double"),
        (wf.mode("x"), ["string"], "string"),
        (wf.count_distinct("x", "y"), ["string", "date"], "bigint"),
        (wf.top_k("x", 3), ["timestamp"], "array<timestamp>"),
        (wf.top_k("x", 3, by="y"), ["map<string,int>", "int"], "array<map<string,int>>"),
        (wf.collect("x"), ["struct<a:int>"], "array<struct<a:int>>"),
        (wf.ohlc("x"), ["float"], "struct<open:float,high:float,low:float,close:float>"),
        (
            wf.linear_regression("y", "x"),
            ["int", "double"],
            "struct<slope:double,intercept:double,r2:double>",
        ),
        (wf.polynomial_fit("y", "x", 2), ["double", "int"], "array<double>"),
        (wf.skyline("a", "b"), ["int", "float"], "array<struct<a:double,b:double>>"),
        (wf.skyline("a b"), ["int"], "array<struct<`a b`:double>>"),
    ],
    ids=repr,
)
def test_type_of_the_result(function: Function, inputs: list[str], result: str) -> None:
    assert function.result_type(*inputs) == result


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (wf.median("x"), ["string"], "median takes numeric columns; got a column of string"),
        (wf.quantile("x", 0.5), ["date"], "quantile takes numeric columns; got a column of date"),
        (
            wf.linear_regression("y", "x"),
            ["double", "timestamp"],
            "linear_regression takes numeric columns; got a column of timestamp",
        ),
        (
            wf.polynomial_fit("y", "x", 1),
            ["string", "int"],
            "polynomial_fit takes numeric columns; got a column of string",
        ),
        (wf.skyline("x"), ["boolean"], "skyline takes numeric columns; got a column of boolean"),
        (
            wf.mode("x"),
            ["array<int>"],
            "mode takes columns that can be ordered; got one of array<int>",
        ),
        (
            wf.count_distinct("x", "y"),
            ["int", "map<int,int>"],
            "count_distinct takes columns that can be ordered; got one of map<int,int>",
        ),
        (
            wf.top_k("x", 1),
            ["struct<a:int>"],
            "top_k takes columns that can be ordered; got one of struct<a:int>",
        ),
        (
            wf.arg_max("x", by="y"),
            ["int", "array<int>"],
            "arg_max takes columns that can be ordered; got one of array<int>",
        ),
        (wf.ohlc("x"), ["void"], "ohlc takes columns that can be ordered; got one of void"),
    ],
    ids=repr,
)
def test_column_of_a_wrong_type_is_refused(
    function: Function, inputs: list[str], message: str
) -> None:
    with pytest.raises(WindrowError) as refusal:
        function.result_type(*inputs)
    assert str(refusal.value).splitlines()[0] == f"{message}."
