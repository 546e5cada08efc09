"""The wording of every text that qmon shows."""
