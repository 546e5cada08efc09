"""Verdicts: problems of a queue. Each verdict is a pure function of the queue's figures and has one line of proof.

A verdict is reported after its evidence has lasted for the hold time, so that a burst is not reported as an incident.
"""

from __future__ import annotations

from qmon.model.verdicts.access_verdicts import CANNOT_SEE_CODE as CANNOT_SEE
from qmon.model.verdicts.judge import CANNOT_TELL, EMPTY, HEALTHY, RULES, judge_queue
from qmon.model.verdicts.rule import Rule, RuleInput

__all__ = ["CANNOT_SEE", "CANNOT_TELL", "EMPTY", "HEALTHY", "RULES", "Rule", "RuleInput", "judge_queue"]
