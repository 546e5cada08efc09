"""Long runs: every design with faults for 50,000 messages, and a server that is repeatedly frozen and killed."""
