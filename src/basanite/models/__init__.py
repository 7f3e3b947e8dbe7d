"""Language models as systems: what is asked of them, every answer with its cost, and submissions made of these."""
