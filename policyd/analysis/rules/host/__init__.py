"""Rules on what the host asks for: the lints of host 3.6 that a manifest alone shows."""
