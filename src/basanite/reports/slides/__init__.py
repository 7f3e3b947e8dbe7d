"""Slides: every report as PowerPoint with native tables and charts, 16:9, with words for those who cannot see."""
