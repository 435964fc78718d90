from __future__ import annotations

import pytest

import windrow as wr
from windrow import functions as wf
from windrow.cli.function_text import functions_of


def test_functions_are_named_or_get_the_name_of_their_call() -> None:
    texts = [
        "mean(price)",
        "avg = mean(price)",
        "count()",
        "quantile(price, q=0.95)",
        "skyline(a, b, maximise=[True, False])",
        "collect('seq no')",
        "arg_max(price, seq)",
    ]
    found = functions_of(texts)
    expected = {
        "mean_price": wf.mean("price"),
        "avg": wf.mean("price"),
        "count": wf.count(),
        "quantile_price": wf.quantile("price", 0.95),
        "skyline_a_b": wf.skyline("a", "b", maximise=[True, False]),
        "collect_seq no": wf.collect("seq no"),
        "arg_max_price_seq": wf.arg_max("price", "seq"),
    }
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("meen(price)", r"not known: 'meen'.\nHint: did you mean mean\?"),
        ("avg(price)", r"not known: 'avg'.\nHint: did you mean mean\?"),
        ("__import__('os')", "the function is not known"),
        ("price", "written as a call"),
        ("mean(price + 1)", "written as a call"),
        ("mean(open('x'))", "written as a call"),
        ("count(*)", r"written as a call(.|\n)*Hint: .* count\(\) counts all rows"),
        ("sum(seq no)", r"written as a call(.|\n)*go in quotes: sum\('seq no'\)"),
        ("mean(**{})", "written as a call"),
        ("a.mean(price)", "written as a call"),
        ("mean(", "written as a call"),
        ("quantile(price)", "a missing argument: 'q'"),
        ("quantile(price, 2)", "from 0 to 1; got q=2"),
    ],
)
def test_wrong_text_is_refused(text: str, said: str) -> None:
    with pytest.raises(wr.WindrowError, match=said):
        functions_of([text])


def test_two_results_of_one_name_are_refused() -> None:
    with pytest.raises(wr.WindrowError, match="same result name 'mean_price'"):
        functions_of(["mean(price)", "mean(price)"])
