"""Set-up of all tests: how much hypothesis tries.

Profile `ci` is quick and the same on every run; `acceptance` (chosen by POLICYD_HYPOTHESIS) tries
many more examples, from a fresh seed that a failure prints.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile(
    "acceptance",
    max_examples=5000,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile(os.environ.get("POLICYD_HYPOTHESIS", "ci"))
