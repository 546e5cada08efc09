"""The tests of qmon: `make test`."""
