"""The tests; those that need no server run without a driver manager, too."""

from tests import driver

driver.ensure()
