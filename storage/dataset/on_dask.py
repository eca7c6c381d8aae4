"""The plies of a data set for Dask: each file is a partition, and the worker that reads it drops what is not wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recorder.errors import StorageError
from recorder.model import GameKind
from storage.dataset.files import arrow_place

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["dask_plies"]


def dask_plies(files: Mapping[str, Sequence[str]], keys: Mapping[str, Sequence[str]] | None) -> Any:
    """The plies of some games as a Dask DataFrame, which nothing has read yet.

    Args:
        files: source → its files of plies, which all workers reach by these names.
        keys: source → keys of the games that are wanted; None: all that were played.
    Returns:
        A row for each half-move, in no order.
    Raises:
        StorageError: Dask or pyarrow is not installed.
    """
    try:
        import dask.dataframe as dd
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise StorageError("--dask needs Dask: pip install 'ics-recorder[dask]'.") from error
    wanted = [(path, source) for source, paths in files.items() if keys is None or source in keys for path in paths]
    texts = {source: pa.array(of_source) for source, of_source in (keys or {}).items()}
    name, system = arrow_place(first := next(path for paths in files.values() for path in paths))
    if not wanted:
        wanted = [(first, "")]
        texts[""] = pa.array([], pa.string())
    return dd.from_map(  # type: ignore[no-untyped-call]  # Dask has no types
        _read,
        [path for path, _ in wanted],
        [texts.get(source) for _, source in wanted],
        meta=_frame(pq.read_schema(name, filesystem=system).empty_table()),
        label="plies",
    )


def _read(path: str, keys: pa.Array | None, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The plies of some games in a file; runs on the worker.

    Args:
        path: of the file. keys: of the games; None: all that were played. columns: that are wanted; None: all.
    """
    import pyarrow.compute as pc

    decides = "kind" if keys is None else "key"
    names = None if columns is None else list(dict.fromkeys([*columns, decides]))
    table = _table(path, names)
    if keys is None:
        rows = pc.equal(table[decides].cast("string"), GameKind.PLAYED.value)
    else:
        rows = pc.is_in(table[decides].cast("string"), value_set=keys)
    table = table.filter(rows)
    return _frame(table if columns is None else table.select(list(columns)))


def _table(path: str, columns: Sequence[str] | None) -> pa.Table:
    import pyarrow.parquet as pq

    name, system = arrow_place(path)
    return pq.read_table(name, columns=columns, filesystem=system)


def _frame(table: pa.Table) -> pd.DataFrame:
    """The rows with pandas' nullable types: whole numbers stay whole where some are unknown."""
    import pandas as pd
    import pyarrow as pa

    types: dict[Any, Any] = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.string(): pd.StringDtype("pyarrow"),
    }
    plain = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    frame: pd.DataFrame = table.cast(pa.schema(plain)).to_pandas(types_mapper=types.get)
    return frame
