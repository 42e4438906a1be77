"""ProjectionPursuit: gradient-based projection pursuit as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from sightline._arrays import Array, is_lazy
from sightline._options import as_generator, check_count
from sightline.estimators.directions import DirectionsEstimator
from sightline.estimators.tables import read_table
from sightline.portfolio import AUTO
from sightline.pursuit import Found, pursue
from sightline.rows import pieces
from sightline.significance import null_p_values
from sightline.streaming import Stream, StreamOptions
from sightline.whitening_choice import choose_whitening


def _reads_rows_once(pursuit: ProjectionPursuit) -> bool:
    """Say whether one index is named, or why there is no `partial_fit`."""
    if isinstance(pursuit.index, str) and pursuit.index == AUTO:
        raise AttributeError(
            "index='auto' searches the rows once for each of several indices, which a stream "
            "can't; name one index, or use fit."
        )
    return True


class ProjectionPursuit(DirectionsEstimator):
    """Directions of largest projection index, found by gradient ascent from many starts.

    Parameters
    ----------
    index : phi, what makes a direction interesting: a name (`sightline.indices.INDICES`) or an
        object. "relu2" finds a small group far out on one side, "abs" and "kurtosis" sparse or
        heavy-tailed scores, "absmax" balanced clusters. "auto" searches by several of them and
        pools what they find on one scale (`sightline.portfolio`): for about five times the work,
        you need not know which one suits.
    n_components : how many directions.
    solver : "adaptive" climbs on all rows and finds directions in far fewer of them
        (`sightline.adaptive_ascent`); "two-step" is the paper's Algorithm 2
        (`sightline.two_step_gradient_ascent`).
    select : psi, which chooses among candidates, by name or object; "auto" is the index's own,
        with candidates whose scores are clearly of several modes before all others. None is
        "auto" for the adaptive solver and the index's own for the two-step one.
    whiten : "auto" (settled by a stated rule, `sightline.whitening_choice`), "exact", "shrunk"
        (Ledoit-Wolf) or "none" (`sightline.whitening.fit_whitening`).
    rank : keep this many principal axes before whitening; None is the numerical rank.
    n_starts : how many starts climb together; None is 64, 192 more and then 2048 as needed for the
        adaptive solver, 400 for the two-step one.
    starts : "data", "random", "moments", "union", or an array of starts in whitened coordinates;
        None is "union" for the adaptive solver, "data" for the two-step one.
    n_steps, step_sizes : see the solvers; None is their own choice.
    resample, batch_size : of the two-step solver: "full" (the default here) climbs on all rows in
        every step, "replace" on batches drawn with replacement, "fresh" on rows that no step has
        seen, as the paper prints it.
    multiple : several directions by "merge" (the best distinct optima) or "deflate" (find one,
        project it out, again).
    minimum_angle : degrees that merged directions keep from each other.
    significance : repeat the search on this many Gaussian tables of the same mean and covariance,
        99 say, for p-values; None does not. See `sightline.significance.null_p_values`, which
        does so after the fit, on several processes and with progress.
    random_state : int, Generator, RandomState or None.

    Attributes
    ----------
    components_ : (k, d) unit rows in the space of the input's columns, best first, the heavier
        tail of the scores on the positive side.
    index_values_ : (k,) value of psi on all whitened rows.
    standard_values_ : (k,) value of psi on the scores at variance 1: what p-values compare, and
        `index_values_` for exact whitening. With index="auto" it is how many standard deviations
        that value is above the best that such a search finds in noise.
    indices_ : list of k names of the indices that found them; with "auto" they may differ.
    p_values_ : (k,) where `significance` was asked for: how often a search of as many directions
        finds as much where there is nothing. Exact for the largest value, conservative for others.
    null_values_ : (significance,) the best standard value of each of those searches.
    converged_ : (k,) whether each stands still: another step would hardly turn it.
    clear_ : (k,) whether its scores are clearly of several modes, where `select` weighs that.
    whiten_ : the whitening that was used, "exact", "shrunk" or "none".
    stopping_reason_ : why the search ended, in words.
    n_iter_ : steps taken.
    n_samples_used_ : rows read by starts and steps.
    n_samples_seen_ : rows that `partial_fit` has seen.
    step_sizes_ : the step sizes in use.
    mean_ : (d,) centre of the columns.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> from sightline import ProjectionPursuit
    >>> from sightline.datasets import make_planted
    >>> X, direction, labels = make_planted(2000, 20, random_state=0)
    >>> pursuit = ProjectionPursuit(random_state=0).fit(X)
    >>> bool(abs(pursuit.components_[0] @ direction) > 0.99)
    True
    """

    def __init__(
        self,
        index: Any = "relu2",
        *,
        n_components: int = 1,
        solver: str = "adaptive",
        select: Any = None,
        whiten: str = "auto",
        rank: int | None = None,
        n_starts: int | None = None,
        starts: Any = None,
        resample: str | None = None,
        batch_size: int | None = None,
        n_steps: int | None = None,
        step_sizes: tuple[float, float] | None = None,
        multiple: str = "merge",
        minimum_angle: float = 15.0,
        significance: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.index = index
        self.n_components = n_components
        self.solver = solver
        self.select = select
        self.whiten = whiten
        self.rank = rank
        self.n_starts = n_starts
        self.starts = starts
        self.resample = resample
        self.batch_size = batch_size
        self.n_steps = n_steps
        self.step_sizes = step_sizes
        self.multiple = multiple
        self.minimum_angle = minimum_angle
        self.significance = significance
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  (y: scikit-learn's contract)
        """Find the directions of the rows of `X` (n, d); `y` is ignored."""
        return self._fit(X, (None,))

    def _fit(self, X: Any, most_stages: tuple[int | None, ...]) -> Self:
        """Fit, each climb going on to a given stage at the latest."""
        if self.significance is not None:
            check_count("significance", self.significance)
        rows = read_table(self, X, reset=True, lazy=True)
        if self.significance is not None and is_lazy(rows):
            raise ValueError(
                f"significance={self.significance!r} searches tables as large as X, which have to "
                "fit into memory. Leave it out, or fit on some of the rows."
            )
        names = getattr(self, "feature_names_in_", None)
        rng = as_generator(self.random_state)
        whitening = choose_whitening(
            rows, self.whiten, index=self.index, rank=self.rank, columns=names, rng=rng
        )
        found = pursue(
            rows,
            whitening,
            index=self.index,
            solver=self.solver,
            select=self.select,
            n_components=self.n_components,
            multiple=self.multiple,
            minimum_angle=self.minimum_angle,
            most_stages=most_stages,
            random_state=rng,
            n_starts=self.n_starts,
            starts=self.starts,
            resample=self.resample,
            batch_size=self.batch_size,
            n_steps=self.n_steps,
            step_sizes=self.step_sizes,
        )
        self.__dict__.pop("_stream", None)
        self._keep_found(found, rows)
        self._keep_p_values(rows)
        return self

    @available_if(_reads_rows_once)  # type: ignore[untyped-decorator, unused-ignore]
    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  (scikit-learn's contract)
        """Climb on the next rows of a stream, each of which is read once; `y` is ignored.

        This is the paper's Algorithm 2, whatever `solver` is. The rows that come first are held
        (`batch_size`, 4096 unless set, or 50 a column up to 20,000, or `n_starts`, if that is
        more): they fit the whitening and are the starts, and psi compares iterates on them. From
        then on every `batch_size` rows are a step: `n_steps` of the first step size, then of the
        second for as long as rows come. What is found is there after each call, once as many
        rows as are held have come. The pieces that a stream comes in change no bit, and a table
        that is not in memory is read in one pass.

        A call after `fit` begins a new stream.
        """
        begun = getattr(self, "_stream", None)
        rows = read_table(self, X, reset=begun is None, lazy=True, minimum_rows=1)
        names = getattr(self, "feature_names_in_", None)
        if begun is None:
            for name in {"components_", "p_values_", "null_values_"} & vars(self).keys():
                delattr(self, name)
            self._stream = begun = Stream(rows.shape[1], self._stream_options(), self.random_state)
        before = begun.steps_done
        for piece in pieces(rows):
            begun.take(piece, names)
        self.n_samples_seen_ = begun.seen
        if begun.steps_done > before or not hasattr(self, "components_"):
            found = begun.found()
            if found is not None:
                self._keep_found(found, rows)
        return self

    def _stream_options(self) -> StreamOptions:
        parameters = self.get_params(deep=False)
        return StreamOptions(**{name: parameters[name] for name in StreamOptions.__slots__})

    def _keep_found(self, found: Found, rows: Array) -> None:
        """Store what a search found as the fitted state."""
        self._keep(found.whitening, found.directions, rows)
        self.index_values_ = found.values
        self.standard_values_ = found.standard_values
        self.indices_ = list(found.indices)
        self._stages = list(found.stages)
        self.converged_ = found.converged
        self.clear_ = found.clear
        self.whiten_ = found.whitening.method
        self.stopping_reason_ = found.stopping_reason
        self.n_iter_ = found.n_steps
        self.n_samples_used_ = found.n_samples_used
        self.step_sizes_ = found.step_sizes

    def search_again(self, X: Array, random_state: Any, **changes: Any) -> np.ndarray:
        """Return the standard values (k,) that the same search finds on another table.

        Where an early stage was convincing here, the search of the other table ends there, too:
        what was found is what that shorter search finds. `changes` are other parameters.
        """
        again = clone(self).set_params(
            **{"significance": None, "random_state": random_state} | changes
        )
        values: np.ndarray = again._fit(X, tuple(self._stages)).standard_values_
        return values

    def _keep_p_values(self, rows: Array) -> None:
        """Store p-values where they were asked for, and none of an earlier fit."""
        for name in {"p_values_", "null_values_"} & vars(self).keys():
            delattr(self, name)
        if self.significance is not None:
            tested = null_p_values(
                self,
                rows,
                self.standard_values_,
                n_null=self.significance,
                random_state=self.random_state,
            )
            self.p_values_, self.null_values_ = tested.p_values, tested.null_best
