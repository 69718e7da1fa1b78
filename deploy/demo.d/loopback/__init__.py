"""Places on loopback that builds come from. They speak as the real ones do."""
