"""Textual's driver for browsers. Like ``TerminalDriver``, it tolerates malformed input.

The environment variable ``TEXTUAL_DRIVER`` selects it: ``qmon.tui.web_driver:WebDriver``.
"""

from __future__ import annotations

from textual.drivers import web_driver

from qmon.tui.driver import LenientParser, lenient_decoder

# Textual's own parser would stop reading keys after the first malformed sequence.
vars(web_driver)["XTermParser"] = LenientParser
vars(web_driver)["getincrementaldecoder"] = lenient_decoder


class WebDriver(web_driver.WebDriver):
    """Textual's web driver, with qmon's parser and decoder instead of Textual's."""
