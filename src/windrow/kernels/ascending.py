"""Whether rows are in ascending order of several columns, found column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.compiled import compiled


@compiled
def ascends_in_ties(values: NDArray[Any], is_tied: NDArray[np.bool_]) -> bool:
    """Whether no value is less than the one before it, where rows are tied by earlier columns.

    ``is_tied[i]`` says that row i + 1 equals row i in the columns before. It is narrowed to the
    rows that are equal in this column, too. NaN is greater than any other number and equal to
    itself. The first value that is less ends the search.

    Ordering: none. Time O(n), space O(1).

    >>> is_tied = np.array([True, True, False])
    >>> ascends_in_ties(np.array([3, 3, 5, 1]), is_tied), is_tied
    (True, array([ True, False, False]))
    """
    for i in range(len(is_tied)):
        if is_tied[i]:
            older, newer = values[i], values[i + 1]
            if newer < older or (older != older and newer == newer):
                return False
            is_tied[i] = newer == older or (older != older and newer != newer)
    return True
