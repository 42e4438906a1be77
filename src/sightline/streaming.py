"""The way of the data for rows that come once: whitening and starts from the first, then steps.

The rows that come first are held: they fit the whitening, give the starts, and are what iterates
are compared on. Every `batch_size` rows after them are one step of Algorithm 2
(`sightline.ascent.stream`). Rows are cut into batches as they come, whatever the pieces they come
in, so the pieces change no bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sightline._arrays import Array, namespace
from sightline._options import as_generator, check_choice, check_count, check_number
from sightline.ascent.stream import StreamAscent
from sightline.indices import make_index, selection_index
from sightline.pursuit import Found, found_among
from sightline.solvers import Candidates, Climb, settled
from sightline.starts import make_starts
from sightline.whitening import Whitening
from sightline.whitening_choice import choose_whitening

BATCH_SIZE = 4096
"""Rows of a batch unless the caller says."""

_N_STARTS = 400
"""Starts unless the caller says, as in `two_step_gradient_ascent`."""

_HELD_A_COLUMN, _HELD = 50, 20_000
"""Rows that are held: so many a column, and no more than this unless a batch is larger."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of a search on a stream, as `ProjectionPursuit` names them."""

    index: Any
    select: Any
    whiten: str
    rank: int | None
    n_components: int
    multiple: str
    minimum_angle: float
    n_starts: int | None
    starts: Any
    batch_size: int | None
    n_steps: int | None
    step_sizes: tuple[float, float] | None
    resample: str | None


class Stream:
    """A search that is fed with rows.

    Attributes
    ----------
    seen : rows that have come.
    wanted : rows that are held; the search begins with them.
    """

    def __init__(self, n_columns: int, options: StreamOptions, random_state: Any) -> None:
        if options.resample not in {None, "fresh"}:
            raise ValueError(
                f"resample={options.resample!r} reads rows again, which a stream can't; leave it "
                "out, or use fit."
            )
        check_choice("multiple", options.multiple, ("merge", "deflate"))
        if options.multiple == "deflate" and options.n_components > 1:
            raise ValueError(
                "multiple='deflate' searches the rows once for each direction, which a stream "
                "can't; use multiple='merge', or fit."
            )
        check_count("n_components", options.n_components)
        check_number("minimum_angle", options.minimum_angle, low=0, high=90)
        self._options = options
        self._rng = as_generator(random_state)
        self._phi = make_index(options.index)
        self._weigh_modes = isinstance(options.select, str) and options.select == "auto"
        self._psi = selection_index(self._phi, None if self._weigh_modes else options.select)
        size = BATCH_SIZE if options.batch_size is None else options.batch_size
        self._size = check_count("batch_size", size)
        starts = _N_STARTS if options.n_starts is None else options.n_starts
        self._n_starts = check_count("n_starts", starts)
        if options.n_steps is not None:
            check_count("n_steps", options.n_steps)
        self.wanted = max(
            self._size, self._n_starts, min(_HELD_A_COLUMN * n_columns, _HELD), 2 * n_columns
        )
        self.seen = 0
        self._waiting: list[Array] = []
        self._n_waiting = 0
        self._whitening: Whitening | None = None
        self._ascent: StreamAscent | None = None

    @property
    def steps_done(self) -> int:
        """Steps that were taken."""
        return 0 if self._ascent is None else self._ascent.steps_done

    def take(self, rows: Array, columns: Any = None) -> None:
        """Take the next rows (b, d), and climb on every batch that they fill."""
        self.seen += rows.shape[0]
        self._n_waiting += rows.shape[0]
        self._waiting.append(rows)
        if self._ascent is None and self._n_waiting >= self.wanted:
            self._begin(self._next(self.wanted), columns)
        while self._ascent and self._whitening and self._n_waiting >= self._size:
            self._ascent.step(self._whitening.apply(self._next(self._size)))

    def found(self) -> Found | None:
        """Return the best directions so far, or None where the search has not begun."""
        if self._ascent is None or self._whitening is None:
            return None
        ascent, options = self._ascent, self._options
        steps = f"{ascent.steps_done} steps of a stream; Algorithm 2 takes 2 x {ascent.n_steps}"
        count = min(options.n_components, self._whitening.rank)
        candidates = Candidates(
            Climb(self._phi, self._psi, self._weigh_modes, count),
            ascent.best,
            settled(self._phi, ascent.best, ascent.held, ascent.step_sizes[1]),
            ascent.steps_done,
            ascent.best.shape[0] + ascent.steps_done * self._size,
            ascent.step_sizes,
            steps,
        )
        return found_among(
            [candidates], ascent.held, self._whitening, count=count, angle=options.minimum_angle
        )

    def _begin(self, rows: Array, columns: Any) -> None:
        """Fit the whitening and make the starts."""
        options, rng = self._options, self._rng
        self._whitening = choose_whitening(
            rows, options.whiten, index=self._phi, rng=rng, rank=options.rank, columns=columns
        )
        check_count("n_components", options.n_components, at_most=self._whitening.rank)
        held = self._whitening.apply(rows)
        starts = "data" if options.starts is None else options.starts
        self._ascent = StreamAscent(
            make_starts(held, starts, self._n_starts, rng),
            held,
            self._phi,
            self._psi,
            n_steps=options.n_steps,
            step_sizes=options.step_sizes,
        )

    def _next(self, count: int) -> Array:
        """Return the first rows that wait, and let the others wait on."""
        xp = namespace(self._waiting[0])
        together = self._waiting[0] if len(self._waiting) == 1 else xp.concat(self._waiting)
        self._n_waiting -= count
        self._waiting = [together[count:, :]]
        return together[:count, :]
