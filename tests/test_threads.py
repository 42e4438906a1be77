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


def test_the_callers_thread_works_too():
    seen = set()

    def who(_):
        seen.add(threading.current_thread())
        time.sleep(0.002)

    list(ordered_map(who, range(40), threads=2))
    assert threading.current_thread() in seen
    assert len(seen) == 2


def test_maps_within_maps_come_to_an_end():
    def inner(item):
        return sum(ordered_map(lambda i: i * item, range(6), threads=3))

    for _ in range(5):
        assert list(ordered_map(inner, range(12), threads=3)) == [15 * i for i in range(12)]


def test_an_error_waits_for_its_turn_and_no_thread_is_left_at_work():
    begun, ended = [], []

    def fail_late(item):
        begun.append(item)
        time.sleep(0.002)
        ended.append(item)
        if item == 3:
            raise KeyError(item)
        return item

    results = ordered_map(fail_late, range(50), threads=3)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="3"):
        next(results)
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 50
