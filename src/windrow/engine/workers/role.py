"""The role of a worker: which windows it computes, over what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.windower import Share
from windrow.engine.workers.geometry import Geometry


@dataclass(frozen=True)
class Role:
    """The windows of a geometry that a worker has a share of, and the columns that it keeps."""

    query: WindowQuery
    geometry: Geometry
    columns: Mapping[str, pa.DataType]
    share: Share
