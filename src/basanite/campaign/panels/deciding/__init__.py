"""What comes of what was said: decisions on disagreements, files, a new truth."""
