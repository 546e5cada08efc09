"""The tests. Those that need no server also run without a driver manager."""

from tests import driver

driver.ensure()
