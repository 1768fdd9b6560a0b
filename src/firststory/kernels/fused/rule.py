"""The constants of the score, by name: kernels take them as one value."""

from __future__ import annotations

from typing import NamedTuple


class Ageing(NamedTuple):
    """How a match ages: `cosine (1 + days) ** (-beta (1 - cosine) ** kappa)`."""

    beta: float
    """For neighbours."""
    join_beta: float
    """For clusters, when a row looks for one to join."""
    kappa: float
    """How much less a strong match ages than a weak one; 0: all alike."""


class Rule(NamedTuple):
    """What `FusedNovelty` was set to on development streams; the method's page says how."""

    long: Ageing = Ageing(beta=0.6, join_beta=0.4, kappa=3.0)
    short: Ageing = Ageing(beta=0.3, join_beta=0.2, kappa=0.0)
    short_terms: int = 30
    """A row of at most this many terms is short."""
    join_cosine: float = 0.12
    """A row joins the nearest cluster if its aged cosine is above this."""
    silence_floor: float = 0.2
    """What is left of the cosine to a cluster that has been silent for very long."""
    silence_days: float = 30.0
    """In how many days of silence the rest falls by e."""
    gap_cap: float = 50.0
    """A gap between documents counts as at most this many mean gaps, or a day, towards a cluster's silence."""
    idf_power: float = 1.25
    idf_plus: float = 0.5
    """Weights are (1 + ln x) (ln((1 + N) / (1 + df)) + idf_plus) ** idf_power."""
    early_refresh: float = 0.1
    """At the start of a stream idf is refreshed after this share of the rows so far."""
    half_life: float = 2000.0
    """After how many rows half of what was learnt of lags, ages and cluster sizes is forgotten."""
    large_size: float = 20.0
    """Where the nearest clusters have this many rows (geometric mean), they get half of `max_cluster_weight`."""
    max_cluster_weight: float = 0.67
    """The weight of the nearest cluster beside the neighbours where clusters are very large."""
    start_rows: int = 200
    """Clusters of size one that z believes to have come before the stream began."""
    early_part: float = 0.25
    """How much of the clusters' weight goes by z, which rises early, and not by their mean size."""
    copy_power: int = 8
    """A match counts `1 - cosine ** copy_power` towards the length of a day: copies come at once or at any time."""
    full_share: float = 0.4
    """Matches age in full where at least this share of them lies nearer than chance puts them."""
    prior_matches: float = 10.0
    """The weight of the matches at an age of one day that are believed beforehand."""
    unit_part: float = 4.0
    """With times, ages are counted in the median age of matches beyond chance over this, or in days if that is more."""
    single_term: float = 0.5
    """A match of cosine c loses this times 1 - c of what its strongest term adds to c."""
    short_power: int = 4
    """With times, short rows get the mean of that back, times this power of the share of short rows."""
    level_half_life: float = 500.0
    """After how many rows half of what was learnt of strongest terms and of vectors is forgotten."""
    young_rows: float = 300.0
    young_power: float = 0.2
    """After n rows a likeness c counts (n / (n + young_rows)) ** (young_power (1 - c)) of itself, n and the sum plus 1:
    the less was told so far, the likelier a row is the first of its story, whatever it resembles."""
