"""Courses of policies as a picture.

Source: questions 2 (schedule).
"""

from __future__ import annotations

from collections.abc import Iterable

from policyd.core.retry import Elapsed
from policyd.core.retry.policy import Clamp, TimeBox, nodes_of
from policyd.report.schedule_svg import Lane, schedule_svg
from policyd.usecases.retry_simulate import Course, course_sentence, elapsed_of


def courses_svg(courses: Iterable[Course], *, is_embedded: bool = False) -> str:
    """The picture of some courses under one another; `is_embedded` where a page with a sheet of its own holds it."""
    return schedule_svg([lane_of(course) for course in courses], is_embedded=is_embedded)


def lane_of(course: Course) -> Lane:
    """One course as the picture shows it."""
    nodes = tuple(nodes_of(course.policy))
    counts = elapsed_of(course.rules) is Elapsed.REAL
    return Lane(
        course.name,
        course_sentence(course),
        course.ranges_ns,
        tuple(sorted({n.high_ns for n in nodes if isinstance(n, Clamp) and n.low_ns <= n.high_ns})),
        tuple(sorted({n.limit_ns for n in nodes if isinstance(n, TimeBox)})) if counts else (),
        course.execution_ns,
        not course.low.stopped,
    )
