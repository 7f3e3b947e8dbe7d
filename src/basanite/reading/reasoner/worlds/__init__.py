"""More than one world: consistent contexts of contradictory input, and ranked combinations of counted events."""
