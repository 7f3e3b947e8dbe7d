"""Metrics of text: captions, translation, speech, trees, perplexity, and what they count."""
