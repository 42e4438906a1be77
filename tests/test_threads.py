"""Results come in the order of the items, errors come through, and BLAS is left as it was."""

import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sightline._threads import ordered_map, thread_count


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_keep_the_order_of_the_items(threads):
    def late_if_early(item):
        time.sleep(0.002 * (10 - item))
        return item * item

    assert list(ordered_map(late_if_early, range(10), threads=threads)) == [
        i * i for i in range(10)
    ]


def test_items_run_on_several_threads_at_once():
    meeting = threading.Barrier(2, timeout=10)
    assert len(list(ordered_map(lambda _: meeting.wait(), range(2), threads=2))) == 2


def test_one_blas_thread_inside_and_the_old_number_after():
    before = blas_threads()
    inside = list(ordered_map(lambda _: max(blas_threads()), range(4), threads=2))
    assert inside == [1] * 4
    assert blas_threads() == before


def test_an_error_reaches_the_caller_and_blas_is_restored():
    before = blas_threads()

    def fail(item):
        raise KeyError(item)

    with pytest.raises(KeyError, match="0"):
        list(ordered_map(fail, range(20), threads=2))
    assert blas_threads() == before


def test_few_results_wait_for_their_turn():
    started = []
    results = ordered_map(lambda i: started.append(i) or i, range(100), threads=2)
    next(results)
    time.sleep(0.05)
    assert len(started) <= 6
    results.close()


def test_the_count_follows_a_limit_that_the_caller_set():
    with threadpool_limits(1):
        assert thread_count() == 1
