"""PromQL's ``increase()`` without Prometheus, computed from recorded scrapes."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

# Name of a metric, its target, and its queue (empty if it has none).
Series = tuple[str, str, str]


def scraped(url: str) -> dict[Series, float]:
    """Return the samples that are served now."""
    with urlopen(url, timeout=120) as answer:  # noqa: S310
        text = answer.read().decode()
    return {
        (sample.name, sample.labels["target"], sample.labels.get("queue", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Scrapes:
    """All samples of counters, scrape by scrape."""

    def __init__(self) -> None:
        self.samples: defaultdict[Series, list[float]] = defaultdict(list)

    def scrape(self, url: str) -> dict[Series, float]:
        """Scrape once, record the samples and return them."""
        found = scraped(url)
        for series, value in found.items():
            self.samples[series].append(value)
        return found

    def increase(self, series: Series) -> float:
        """Return the increase as in PromQL, without extrapolation. A counter that falls has restarted at 0."""
        pairs = pairwise(self.samples[series])
        return sum((now - before if now >= before else now for before, now in pairs), start=0.0)
