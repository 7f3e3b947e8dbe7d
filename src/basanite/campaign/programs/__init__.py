"""Teams' programs in a campaign: run on sealed items stage by stage, and paid for in computing time."""
