"""Settings that every test shares."""

from hypothesis import settings

settings.register_profile("default", deadline=None)  # a busy machine is not a failure
settings.load_profile("default")
