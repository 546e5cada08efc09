"""Plan actions: select the affected messages, describe the effects, and give the reasons for a refusal."""
