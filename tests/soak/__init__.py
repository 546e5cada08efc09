"""Long runs: every design under fire for 50,000 messages, and a server that is frozen and killed again and again."""
