"""Frames of every library, and whatever exports an Arrow stream, are the same table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sightline import estimators
from sightline.datasets import ImbalancedClusters, make_planted

X = make_planted(300, 4, signal=ImbalancedClusters(0.1, spread=0.2), random_state=0)[0]
TABLE = pa.table(dict(zip("abcd", X.T, strict=True)))
BLOCKS = pa.Table.from_batches(TABLE.to_batches(max_chunksize=37))


class OnlyStream:
    """Has one method and nothing else that says it is a table."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pandas": TABLE.to_pandas,
    "polars": lambda: pl.from_arrow(TABLE),
    "lazy polars": lambda: pl.from_arrow(TABLE).lazy(),
    "Arrow": lambda: TABLE,
    "Arrow in blocks": lambda: BLOCKS,
    "a record batch": lambda: TABLE.to_batches()[0],
    "a reader": BLOCKS.to_reader,
    "only a stream": lambda: OnlyStream(BLOCKS),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_is_the_same_table(kind):
    fitted = estimators.SpectralPursuit().fit(FRAMES[kind]())
    assert fitted.feature_names_in_.tolist() == list("abcd")
    expected = estimators.SpectralPursuit().fit(TABLE.to_pandas()).transform(TABLE.to_pandas())
    np.testing.assert_allclose(fitted.transform(FRAMES[kind]()), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_estimator_takes_them(name):
    estimator = getattr(estimators, name)()
    quick = {"random_state": 0, "index": "relu2"}
    estimator.set_params(**{k: v for k, v in quick.items() if k in estimator.get_params()})
    fitted = estimator.fit(OnlyStream(TABLE))
    assert fitted.feature_names_in_.tolist() == list("abcd")
    asked = fitted.transform if hasattr(fitted, "transform") else fitted.predict
    np.testing.assert_allclose(
        asked(OnlyStream(BLOCKS)), asked(TABLE.to_pandas()), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_scores_come_out_as_the_frame_asked_for(output, kind):
    pursuit = estimators.SpectralPursuit(n_components=2).set_output(transform=output)
    scores = pursuit.fit_transform(OnlyStream(TABLE))
    assert isinstance(scores, kind)
    assert list(scores.columns) == ["spectralpursuit0", "spectralpursuit1"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pa.table({"a": ["x", "y"], "b": [1.0, 2.0]}), "column 'a' holds text"),
        (pa.table({"a": [1.0, None], "b": [1.0, 2.0]}), "NaN: column 'a' at row 1"),
        (pa.chunked_array([[1.0, 2.0]]), "Expected 2D"),
    ],
)
def test_a_stream_that_is_no_table_of_numbers_is_an_error(table, words):
    with pytest.raises(ValueError, match=words):
        estimators.SpectralPursuit().fit(OnlyStream(table) if "b" in words else table)
